// Compares the simulation with the life-cycle tables of Apple's `notificationType` page, version 2.

import AppStore
import AppStoreSigning
import Foundation
import TestEnvironment
import Testing

@testable import AppStoreSimulator

@Suite(.enabled(if: SharedMaterial.isPresent, "../shared is absent")) struct DocumentedTypesV2Tests {
  private typealias Act = @Sendable (inout WorldState, Int64) throws(WorldError) -> Void

  /// An event of Apple's tables, and the actions that cause it.
  private struct Story: Sendable {
    /// A unique part of the event's description.
    let event: String
    var product = Rehearsal.monthly
    /// The actions on the purchase before the event.
    var before: Act = { _, _ in }
    let happens: Act

    init(
      _ event: String, product: String = Rehearsal.monthly, before: @escaping Act = { _, _ in },
      _ happens: @escaping Act
    ) {
      (self.event, self.product, self.before, self.happens) = (event, product, before, happens)
    }
  }

  private static let now = Timestamp.newYear + .seconds(86_400)
  private static let later = now + .seconds(60)
  private static let monthly = Rehearsal.monthly
  private static let yearly = Rehearsal.yearly
  private static let end: Act = { state, id throws(WorldError) in try state.expire(id, .customerCancelled, at: now) }
  private static let share: Act = { state, id throws(WorldError) in try state.share(id, at: now) }
  private static let announce: Act = { state, id throws(WorldError) in
    try state.announcePriceIncrease(id, to: 12_990, needsConsent: true, at: now)
  }

  private static func customer(of id: Int64, _ state: WorldState) throws(WorldError) -> CustomerID {
    try state.transaction(id).customer
  }

  /// Runs the scheduled event at the end of a period.
  private static func endPeriod(_ state: inout WorldState, _ id: Int64) throws(WorldError) {
    let end = try state.subscription(id).expires
    _ = try state.process(.periodEnds(id, periodEnd: end), at: end)
  }

  private static let stories: [Story] = enabling + options + offers + billing + prices + refunds + extensions

  private static let enabling: [Story] = [
    Story("Customer subscribes for the first time") { state, _ throws(WorldError) in
      try state.purchase(monthly, by: state.addCustomer(to: Rehearsal.production, at: now), at: later)
    },
    Story("Customer resubscribes to any subscription", before: end) { state, id throws(WorldError) in
      try state.purchase(yearly, by: customer(of: id, state), at: later)
    },
    Story("The subscription successfully auto-renews") { state, id throws(WorldError) in
      let end = try state.subscription(id).expires
      _ = try state.process(.renewalDue(id, periodEnd: end), at: end)
    },
    Story("after the purchaser subscribes for the first time") { state, id throws(WorldError) in
      try state.share(id, at: later)
    },
    Story(
      "after the purchaser resubscribes",
      before: { state, id throws(WorldError) in
        try share(&state, id)
        try end(&state, id)
      }
    ) { state, id throws(WorldError) in try state.purchase(monthly, by: customer(of: id, state), at: later) },
  ]

  private static let options: [Story] = [
    Story("Customer downgrades a subscription", product: yearly) { state, id throws(WorldError) in
      try state.changePlan(id, to: monthly, at: later)
    },
    Story(
      "effectively canceling their downgrade", product: yearly,
      before: { state, id throws(WorldError) in try state.changePlan(id, to: monthly, at: now) }
    ) { state, id throws(WorldError) in try state.changePlan(id, to: yearly, at: later) },
    Story("Customer upgrades a subscription") { state, id throws(WorldError) in
      try state.changePlan(id, to: yearly, at: later)
    },
    Story("Customer cancels the subscription from") { state, id throws(WorldError) in
      try state.setRenewal(id, isOn: false, at: later)
    },
    Story(
      "Customer subscribes again after canceling",
      before: { state, id throws(WorldError) in try state.setRenewal(id, isOn: false, at: now) }
    ) { state, id throws(WorldError) in try state.setRenewal(id, isOn: true, at: later) },
    // The question about the purchase follows.
    Story("because the customer initiated a refund") { state, id throws(WorldError) in
      try state.requestRefund(id, at: later)
    },
  ]

  private static let offers: [Story] = [
    Story("offer code for an active subscription") { state, id throws(WorldError) in
      try state.redeemOffer("TRY", of: monthly, for: id, at: later)
    },
    // Today Apple sends SUBSCRIBED for the next two.
    Story("offer code to subscribe for the first time") { state, _ throws(WorldError) in
      try state.redeemOfferOldStyle(
        "TRY", of: monthly, by: state.addCustomer(to: Rehearsal.production, at: now), at: later)
    },
    Story("after their subscription expired", before: end) { state, id throws(WorldError) in
      try state.redeemOfferOldStyle("TRY", of: monthly, by: customer(of: id, state), at: later)
    },
    Story("offer code to upgrade their") { state, id throws(WorldError) in
      try state.redeemOffer("TRY", of: yearly, for: id, at: later)
    },
    Story("and downgrades their subscription", product: yearly) { state, id throws(WorldError) in
      try state.redeemOffer("TRY", of: monthly, for: id, at: later)
    },
  ]

  private static let billing: [Story] = [
    Story(
      "because the customer chose to cancel it",
      before: { state, id throws(WorldError) in try state.setRenewal(id, isOn: false, at: now) }, endPeriod),
    Story(
      "removed the subscription from sale",
      before: { state, _ throws(WorldError) in try state.setForSale(monthly, in: Rehearsal.production, false) },
      endPeriod),
    Story(
      "billing retry period ends without",
      before: { state, id throws(WorldError) in try state.failToRenew(id, at: now) }
    ) { state, id throws(WorldError) in
      guard let end = try state.subscription(id).retryEnds else { throw .impossible("no billing retry") }
      _ = try state.process(.retryEnds(id, at: end), at: end)
    },
    Story("enters the billing retry period. ") { state, id throws(WorldError) in try state.failToRenew(id, at: later) },
    Story("with Billing Grace Period enabled", product: Rehearsal.graceful) { state, id throws(WorldError) in
      try state.failToRenew(id, at: later)
    },
    Story(
      "billing retry successfully recovers",
      before: { state, id throws(WorldError) in try state.failToRenew(id, at: now) }
    ) { state, id throws(WorldError) in try state.renew(id, at: later) },
    Story(
      "exits the Billing Grace Period", product: Rehearsal.graceful,
      before: { state, id throws(WorldError) in try state.failToRenew(id, at: now) }
    ) { state, id throws(WorldError) in
      guard let end = try state.subscription(id).graceExpires else { throw .impossible("no grace period") }
      _ = try state.process(.graceEnds(id, at: end), at: end)
    },
  ]

  private static let prices: [Story] = [
    Story("and the customer doesn’t respond", announce),
    Story("because the customer didn’t consent", before: announce, endPeriod),
    Story("Customer consents to an", before: announce) { state, id throws(WorldError) in
      try state.acceptPriceIncrease(id, at: later)
    },
    Story("that doesn’t require customer consent") { state, id throws(WorldError) in
      try state.announcePriceIncrease(id, to: 12_990, needsConsent: false, at: later)
    },
    Story("after receiving a price increase notice", before: announce) { state, id throws(WorldError) in
      try state.setRenewal(id, isOn: false, at: later)
    },
  ]

  private static let refunds: [Story] = [
    Story("Apple refunds the transaction", product: Rehearsal.coins) { state, id throws(WorldError) in
      try state.refund(id, at: later)
    },
    Story(
      "Apple reverses a previously granted refund",
      before: { state, id throws(WorldError) in try state.refund(id, at: now) }
    ) { state, id throws(WorldError) in try state.reverseRefund(id, at: later) },
    Story(
      "Apple declines a refund", before: { state, id throws(WorldError) in try state.requestRefund(id, at: now) }
    ) { state, id throws(WorldError) in try state.declineRefund(id, at: later) },
    Story("Apple requests consumption information", product: Rehearsal.coins) { state, id throws(WorldError) in
      try state.requestRefund(id, at: later)
    },
    Story("A family member loses access", before: share) { state, id throws(WorldError) in
      for member in state.families[id] ?? [] { try state.revoke(member.original, at: later) }
    },
  ]

  private static let extensions: [Story] = [
    Story("for a specific subscription.") { state, id throws(WorldError) in
      try state.extendRenewal(id, byDays: 7, at: later)
    },
    Story("successfully completes extending") { state, _ throws(WorldError) in
      state.summarizeExtension(
        in: Rehearsal.production, productId: monthly, requestIdentifier: "r", storefronts: nil, succeeded: 1, failed: 0,
        at: later)
    },
    Story("The App Store failed to extend") { state, id throws(WorldError) in try state.failExtension(id, at: later) },
  ]

  private struct Row {
    var event: String
    var type: String
    var subtype: String
  }

  /// The rows of the page's tables. A row ends with two spaces, and its event can go over several lines.
  private static func rows() throws -> [Row] {
    let page = try SharedMaterial.text("app-store-docs/server-notifications-v1-and-v2.md")
    let start = try #require(page.range(of: "### Handle use cases for in-app purchase life-cycle events"))
    let end = try #require(page.range(of: "## See Also", range: start.upperBound..<page.endIndex))
    var rows: [Row] = []
    var text = ""
    for line in page[start.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("---|") || line.isEmpty {
        text = ""
        continue
      }
      text += (text.isEmpty ? "" : " ") + line
      guard line.hasSuffix("  ") else { continue }
      let cells = text.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
      guard cells.count == 3 else { continue }
      let codes = cells.dropFirst().map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
      if cells[0] != "Event" { rows.append(Row(event: cells[0], type: codes[0], subtype: codes[1])) }
      text = ""
    }
    return rows
  }

  @Test func `every event of Apple's tables causes the notification of its row`() throws {
    let rows = try Self.rows()
    #expect(rows.count == 36 && rows.count == Self.stories.count)
    for row in rows {
      let found = Self.stories.filter { row.event.contains($0.event) }
      #expect(found.count == 1, "\(row.event)")
      guard let story = found.first else { continue }
      let kinds = try Self.kinds(of: story)
      // The table leaves out a subtype that this type always has.
      let isOpen = row.type == "DID_CHANGE_RENEWAL_STATUS" && row.subtype.isEmpty
      let told = kinds.contains {
        $0.type.rawValue == row.type && (isOpen || ($0.subtype?.rawValue ?? "") == row.subtype)
      }
      #expect(told, "\(row.event): \(row.type) \(row.subtype), but \(kinds)")
      // The App Store turns auto-renewal off and asks about the purchase.
      #expect(Set(kinds).count == (row.event.contains("initiated a refund") ? 2 : 1), "\(row.event): \(kinds)")
    }
  }

  private static func kinds(of story: Story) throws -> [SampleKind] {
    let world = Rehearsal.world()
    return try world.withState { state throws(WorldError) in
      let original = try state.quietly { state throws(WorldError) in
        let customer = try state.addCustomer(to: Rehearsal.production, at: .newYear)
        let original = try state.purchase(story.product, by: customer, at: .newYear)
        try story.before(&state, original)
        return original
      }
      try story.happens(&state, original)
      return state.realms[Rehearsal.production].log.records.map(\.facts.kind)
    }
  }
}
