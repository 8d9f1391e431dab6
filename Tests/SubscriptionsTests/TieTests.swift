// Reports that Apple signed at the same time and that differ in one field: the order of arrival decides nothing.

import AppStore
import Testing

@testable import Subscriptions

@Suite struct TieTests {
  private static let text: [JSON] = ["one", "two"]
  private static let time: [JSON] = [.integer(1_767_225_600_000), .integer(1_767_225_601_000)]

  /// Two values for a field that the state keeps.
  private static func values(_ name: String, _ kind: JSONKind) -> [JSON] {
    switch kind {
    case .boolean: [.bool(false), .bool(true)]
    case .integer: name.hasSuffix("Date") ? time : [.integer(1), .integer(2)]
    case .string: text
    default: []
    }
  }

  private static let fixed: Set<String> = ["signedDate", "transactionId", "originalTransactionId", "type"]

  private static func reports(
    _ change: (inout JWSTransactionDecodedPayload, inout JWSRenewalInfoDecodedPayload, JSON) -> Void, _ values: [JSON]
  ) -> [SubscriptionReport] {
    ([JSON?.none] + values).compactMap { value in
      var (transaction, renewal) = (transaction(from: 0, to: 30), renewal(until: 30))
      if let value { change(&transaction, &renewal, value) }
      return notification(.didRenew, status: .active, on: 10, transaction, renewal)
    }
  }

  @Test func `two versions that differ in any one field of the transaction or the renewal info lead to one state`() {
    var played = 0
    func check(_ name: String, _ reports: [SubscriptionReport]) {
      for first in reports {
        for second in reports where first != second {
          let states = [[first, second], [second, first], [first, second, first]].map { SubscriptionState(after: $0) }
          #expect(states[0] == states[1] && states[0] == states[2], "\(name)")
          #expect(states[0].packed == states[1].packed, "\(name)")
          played += 1
        }
      }
    }
    for field in JWSTransactionDecodedPayload.documentedFields where !Self.fixed.contains(field.name) {
      let values = Self.values(field.name, field.kind)
      check(
        "transaction.\(field.name)",
        Self.reports(
          { transaction, _, value in
            transaction.json[field.name] = value
          }, values))
    }
    for field in JWSRenewalInfoDecodedPayload.documentedFields where !Self.fixed.contains(field.name) {
      let values = Self.values(field.name, field.kind)
      check(
        "renewalInfo.\(field.name)",
        Self.reports(
          { _, renewal, value in
            renewal.json[field.name] = value
          }, values))
    }
    #expect(played > 100)
  }

  @Test func `the app and the environment do not depend on the order`() {
    func report(_ bundleId: String?, _ environment: AppStoreEnvironment?, on day: Int64) -> SubscriptionReport? {
      var transaction = transaction(from: 0, to: 30)
      (transaction.bundleId, transaction.environment) = (bundleId, environment)
      return notification(.didRenew, status: .active, on: day, transaction)
    }
    let reports = [report("a", .production, on: 1), report(nil, nil, on: 2), report("b", .sandbox, on: 3)]
    let state = SubscriptionState(after: reports)
    #expect(SubscriptionState(after: reports.reversed()) == state && state.bundleId != nil)
  }
}
