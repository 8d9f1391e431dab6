// Folds notifications that Apple signed in the sandbox. Reads ../shared; the suite is skipped if that is absent.

import AppStore
import Foundation
import TestEnvironment
import Testing

@testable import Subscriptions

@Suite(
  .enabled(
    if: SharedMaterial.isPresent, "../shared is absent: notifications signed by Apple are not folded into states"))
struct CorpusTests {
  private struct Item: Decodable {
    struct Expected: Decodable { var valid: Bool? }
    var id: String
    var kind: String
    var jws: String?
    var expected: Expected
  }

  /// The payload of a token. Its signature is checked by the tests of the verifier.
  private func payload(_ token: String?) throws -> JSONObject? {
    guard let token else { return nil }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    let part = try #require(parts.count == 3 ? parts[1] : nil)
    return try JSONObject(parsing: try #require(Base64.decodeURL(Array(part.utf8))))
  }

  /// For each item its status, the current product and its end, then the renewal and the events.
  private static let states = """
    v2-consumption_request-session-2740ea8c: active, com.getsession.org.pro_sub_3_months until 2025-10-16T05:25:14.000Z
      renews as com.getsession.org.pro_sub_3_months, no event, period unknown
    v2-did_change_renewal_pref-downgrade-session-b08fb5c0: active, com.getsession.org.pro_sub until 2025-10-06T05:19:30.000Z
      renews as com.getsession.org.pro_sub_3_months, product-change-scheduled
    v2-did_change_renewal_pref-session-0725f8d8: active, com.getsession.org.pro_sub until 2025-10-06T05:19:30.000Z
      renews as com.getsession.org.pro_sub, no event
    v2-did_change_renewal_pref-upgrade-session-380aeaa2: active, com.getsession.org.pro_sub until 2025-10-06T05:19:30.000Z
      renews as com.getsession.org.pro_sub, upgraded
    v2-did_change_renewal_status-auto_renew_disabled-session-17637c15: active, com.getsession.org.pro_sub until 2025-10-06T05:19:30.000Z
      does not renew, renewal-disabled
    v2-did_renew-session-e4c6e7c7: active, com.getsession.org.pro_sub until 2025-10-01T07:12:12.000Z
      renews as com.getsession.org.pro_sub, renewed
    v2-expired-voluntary-session-143c2f5e: expired, com.getsession.org.pro_sub until 2025-10-06T05:19:30.000Z
      does not renew, expired
    v2-one_time_charge-ricky-72b2bed3: purchase completed
    v2-refund-session-009e7391: active, com.getsession.org.pro_sub_3_months until 2025-10-16T05:25:14.000Z
      renews as com.getsession.org.pro_sub_3_months, no event, period unknown
    v2-subscribed-resubscribe-session-29a24027: active, com.getsession.org.pro_sub_3_months until 2025-10-06T05:25:18.000Z
      renews as com.getsession.org.pro_sub_3_months, resubscribed
    v2-test-imdhemy-6f394992: not about a purchase
    v2-test-session-ee66df4c: not about a purchase
    v2-test-simplephp-f85527bd: not about a purchase
    """

  @Test func `each notification leads to the expected state`() throws {
    var lines: [String] = []
    for file in try SharedMaterial.names(in: "corpus") where file.hasPrefix("v2-") {
      let item = try JSONDecoder().decode(Item.self, from: Data(SharedMaterial.bytes("corpus/\(file)")))
      let notification = ResponseBodyV2DecodedPayload(json: try #require(try payload(item.jws)))
      let transaction = try payload(notification.data?.signedTransactionInfo).map(JWSTransactionDecodedPayload.init)
      let renewal = try payload(notification.data?.signedRenewalInfo).map(JWSRenewalInfoDecodedPayload.init)
      let name = file.replacing(".json", with: "")
      guard let report = SubscriptionReport(notification, transaction: transaction, renewal: renewal) else {
        var purchase = PurchaseState()
        let period = transaction.flatMap { Period($0) }
        let event = period.flatMap { purchase.apply($0, notification.notificationType)?.event }
        lines.append("\(name): \(event.map { "purchase \($0.rawValue)" } ?? "not about a purchase")")
        continue
      }
      var state = SubscriptionState()
      let events = state.events(report)
      #expect(try SubscriptionState(packed: state.packed) == state)
      let subscription = try #require(state.subscription)
      let end = subscription.end?.rfc3339 ?? "none"
      let next = subscription.renews ? "renews as \(subscription.renewal?.productId ?? "?")" : "does not renew"
      let published = events.isEmpty ? "no event" : events.map(\.rawValue).joined(separator: " ")
      lines.append(
        """
        \(name): \(subscription.status.rawValue), \(subscription.productId ?? "?") until \(end)
          \(next), \(published)\(subscription.uncertainty.map { ", \($0) unknown" } ?? "")
        """)
    }
    #expect(lines.joined(separator: "\n") == Self.states)
  }
}
