// Compares the simulation with the tables of Apple's `notification_type` page.

import AppStore
import AppStoreSigning
import Foundation
import TestEnvironment
import Testing

@testable import AppStoreSimulator

/// An event of Apple's table, and the actions that cause it.
private struct Story: Sendable {
  typealias Act = @Sendable (inout WorldState, Int64) throws(WorldError) -> Void

  /// A unique part of the event's description.
  let event: String
  var product = Rehearsal.monthly
  /// The actions on the purchase before the event.
  var before: Act = { _, _ in }
  let happens: Act
}

@Suite(.enabled(if: SharedMaterial.isPresent, "../shared is absent")) struct DocumentedTypesV1Tests {
  private static let now = Timestamp.newYear + .seconds(86_400)
  private static let later = now + .seconds(60)

  private static func buy(_ product: String, like original: Int64, _ state: inout WorldState) throws(WorldError) {
    guard let customer = state.transactions[original]?.customer else { throw .noSuchTransaction(original) }
    try state.purchase(product, by: customer, at: later)
  }

  private static let stories: [Story] = [
    Story(event: "completed an initial purchase") { state, _ throws(WorldError) in
      try state.purchase(
        Rehearsal.monthly, by: state.addCustomer(to: Rehearsal.production, at: now), at: later)
    },
    Story(event: "customer upgraded to another") { state, id throws(WorldError) in
      try state.changePlan(id, to: Rehearsal.yearly, at: later)
    },
    Story(event: "customer downgraded to another", product: Rehearsal.yearly) { state, id throws(WorldError) in
      try state.changePlan(id, to: Rehearsal.monthly, at: later)
    },
    Story(
      event: "resubscribed to the same SKU",
      before: { state, id throws(WorldError) in try state.expire(id, .customerCancelled, at: now) }
    ) { state, id throws(WorldError) in try buy(Rehearsal.monthly, like: id, &state) },
    Story(
      event: "resubscribed to another SKU",
      before: { state, id throws(WorldError) in try state.expire(id, .customerCancelled, at: now) }
    ) { state, id throws(WorldError) in try buy(Rehearsal.yearly, like: id, &state) },
    Story(event: "Customer canceled the subscription") { state, id throws(WorldError) in
      try state.setRenewal(id, isOn: false, at: later)
    },
    Story(
      event: "resubscribed to same product before",
      before: { state, id throws(WorldError) in try state.setRenewal(id, isOn: false, at: now) }
    ) { state, id throws(WorldError) in try state.setRenewal(id, isOn: true, at: later) },
    Story(event: "AppleCare refunded a subscription") { state, id throws(WorldError) in
      try state.refund(id, at: later)
    },
    Story(event: "failed to renew because") { state, id throws(WorldError) in try state.failToRenew(id, at: later) },
    Story(
      event: "recovered by App Store",
      before: { state, id throws(WorldError) in try state.failToRenew(id, at: now) }
    ) { state, id throws(WorldError) in try state.renew(id, at: later) },
    Story(
      event: "churned after failed billing",
      before: { state, id throws(WorldError) in try state.failToRenew(id, at: now) }
    ) { state, id throws(WorldError) in try state.expire(id, .billingError, at: later) },
    Story(event: "refunded the transaction for a consumable", product: Rehearsal.coins) {
      state, id throws(WorldError) in
      try state.refund(id, at: later)
    },
    Story(event: "increased the price") { state, id throws(WorldError) in
      try state.announcePriceIncrease(id, to: 12_990, needsConsent: true, at: later)
    },
    Story(event: "successfully auto-renewed") { state, id throws(WorldError) in try state.renew(id, at: later) },
    Story(
      event: "disabled Family Sharing",
      before: { state, id throws(WorldError) in try state.share(id, at: now) }
    ) { state, id throws(WorldError) in
      for member in state.families[id] ?? [] { try state.revoke(member.original, at: later) }
    },
    Story(event: "initiated a refund request", product: Rehearsal.coins) { state, id throws(WorldError) in
      try state.requestRefund(id, at: later)
    },
  ]

  /// The non-empty lines of the page between two lines.
  private static func lines(after start: String, until end: String) throws -> [String] {
    let page = try SharedMaterial.text("app-store-docs/v1-notification-type.md")
      .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let first = try #require(page.firstIndex { $0.hasPrefix(start) })
    let last = try #require(page[first...].firstIndex { $0.hasPrefix(end) })
    return page[(first + 1)..<last].filter { !$0.isEmpty }
  }

  @Test func `every event of Apple's table causes the types of its row, in order`() throws {
    let lines = try Self.lines(after: "Notification types", until: "Receive notifications for the purchaser")
    let rows = stride(from: 0, to: lines.count - 1, by: 2).map { (event: lines[$0], types: lines[$0 + 1]) }
    #expect(rows.count == Self.stories.count && rows.count >= 16)
    for row in rows {
      let found = Self.stories.filter { row.event.contains($0.event) }
      #expect(found.count == 1, "\(row.event)")
      guard let story = found.first else { continue }
      let world = Rehearsal.world()
      let types = try world.withState { state throws(WorldError) in
        let original = try state.quietly { state throws(WorldError) in
          let customer = try state.addCustomer(to: Rehearsal.production, at: .newYear)
          let original = try state.purchase(story.product, by: customer, at: .newYear)
          try story.before(&state, original)
          return original
        }
        try story.happens(&state, original)
        return state.realms[Rehearsal.production].log.records.flatMap { state.typesV1(of: $0.facts) }
      }
      #expect(types.map(\.rawValue).joined(separator: ", ") == row.types, "\(row.event)")
    }
  }

  @Test func `purchasers and family members get the notifications of Apple's table`() throws {
    let lines = try Self.lines(
      after: "Received for Family Members", until: "The CONSUMPTION_REQUEST notification applies")
    var types: Set<NotificationTypeV1> = []
    for place in stride(from: 0, to: lines.count - 2, by: 3) {
      let type = NotificationTypeV1(rawValue: lines[place])
      guard type.isKnown, type != .renewal else { continue }
      types.insert(type)
      #expect(type.isSent(of: .purchased, in: .production) == (lines[place + 1] == "YES"), "\(type)")
      #expect(type.isSent(of: .familyShared, in: .production) == (lines[place + 2] == "YES"), "\(type)")
    }
    #expect(types == Set(NotificationTypeV1.allKnown).subtracting([.renewal]))
  }

  @Test func `the sandbox sends the types of Apple's list, to purchasers only`() throws {
    let page = try SharedMaterial.text("app-store-docs/v1-notification-type.md")
    let list = try #require(page.split(separator: "available in sandbox: ").last?.split(separator: ".").first)
    let documented = Set(
      list.split { !$0.isUppercase && $0 != "_" }.map { NotificationTypeV1(rawValue: String($0)) })
    #expect(documented.count == 7)
    for type in NotificationTypeV1.allKnown {
      #expect(type.isSent(of: .purchased, in: .sandbox) == documented.contains(type), "\(type)")
      #expect(!type.isSent(of: .familyShared, in: .sandbox))
    }
  }
}
