// Every field that Apple's documents allow to be absent, absent and null: the status that Apple signed stays, no
// customer is denied whom Apple calls active, and the worker asks about an end that is not named.

import AppStore
import AppStoreSigning
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceWorker
@testable import Subscriptions

@Suite(.timeLimit(.minutes(5))) struct MissingDetailTests {
  private static let hour = Duration.seconds(3_600)
  private static let day = Duration.seconds(86_400)

  /// A complete notification.
  struct Notice: Sendable {
    var status: AppStore.Status
    var payload: ResponseBodyV2DecodedPayload
    var transaction: JWSTransactionDecodedPayload
    var renewal: JWSRenewalInfoDecodedPayload

    var report: SubscriptionReport? { SubscriptionReport(payload, transaction: transaction, renewal: renewal) }
  }

  /// A notification with each status, signed on day 10 or 31 of the period of 30 days.
  static let notices: [Notice] = [
    notice(.active, .didRenew, on: 10, renewal(until: 30)),
    notice(.billingGracePeriod, .didFailToRenew, on: 31, renewal(until: 30, grace: 46)),
    notice(.billingRetry, .gracePeriodExpired, on: 31, renewal(until: 30)),
    notice(.expired, .expired, on: 31, renewal(until: 30)),
    notice(.revoked, .refund, on: 10, renewal(until: 30)),
  ]

  private static func notice(
    _ status: AppStore.Status, _ type: NotificationTypeV2, on day: Int64, _ renewal: JWSRenewalInfoDecodedPayload
  ) -> Notice {
    var payload = ResponseBodyV2DecodedPayload(json: [:])
    payload.notificationType = type
    payload.notificationUUID = "1"
    payload.signedDate = .day(day)
    var data = NotificationData(json: [:])
    data.status = status
    data.bundleId = "com.example.app"
    data.environment = .production
    payload.data = data
    var paid = transaction(from: 0, to: 30, signed: day, revoked: status == .revoked ? day : nil)
    paid.bundleId = "com.example.app"
    paid.environment = .production
    paid.transactionReason = .renewal
    paid.subscriptionGroupIdentifier = "21345678"
    var renewal = renewal
    renewal.signedDate = .day(day)
    renewal.autoRenewStatus = status == .expired ? .off : .on
    renewal.isInBillingRetryPeriod = status == .billingRetry ? true : nil
    return Notice(status: status, payload: payload, transaction: paid, renewal: renewal)
  }

  /// The notifications that lack one field, or have it as null.
  static func incomplete(_ notice: Notice) -> [(name: String, notice: Notice)] {
    var all: [(name: String, notice: Notice)] = []
    func add(_ name: String, _ change: (inout Notice, JSON?) -> Void) {
      for (form, value) in [("absent", JSON?.none), ("null", .null)] {
        var changed = notice
        change(&changed, value)
        all.append(("\(notice.status): \(name) \(form)", changed))
      }
    }
    for field in JWSTransactionDecodedPayload.documentedFields {
      add("transaction.\(field.name)") { $0.transaction.json[field.name] = $1 }
    }
    for field in JWSRenewalInfoDecodedPayload.documentedFields {
      add("renewalInfo.\(field.name)") { $0.renewal.json[field.name] = $1 }
    }
    for field in NotificationData.documentedFields {
      add("data.\(field.name)") { notice, value in
        var data = notice.payload.data ?? NotificationData(json: [:])
        data.json[field.name] = value
        notice.payload.data = data
      }
    }
    add("signedDate") { $0.payload.json["signedDate"] = $1 }
    add("both inner signedDates") {
      $0.transaction.json["signedDate"] = $1
      $0.renewal.json["signedDate"] = $1
    }
    return all
  }

  @Test(arguments: notices)
  func `a field that is absent or null never overrides the status`(notice: Notice) throws {
    let complete = try #require(SubscriptionState(after: [notice.report]).subscription)
    let signed = complete.statement.signedDate
    #expect(complete.status.apple == notice.status && complete.uncertainty == nil)
    for (name, changed) in Self.incomplete(notice) {
      let report = try #require(changed.report, "\(name)")
      let state = SubscriptionState(after: [report])
      #expect(try SubscriptionState(packed: state.packed) == state, "\(name)")
      guard let subscription = state.subscription else {
        // Without its id or date, the transaction is no period. Apple is asked at once.
        #expect(state.question(margin: Self.hour)?.isUrgent == true, "\(name)")
        #expect(name.contains("transaction.transactionId") || name.contains("transaction.purchaseDate"), "\(name)")
        continue
      }
      #expect(subscription.status == complete.status, "\(name)")
      let now = signed + Self.hour
      #expect(
        subscription.isEntitled(at: now, margin: Self.hour) == complete.isEntitled(at: now, margin: Self.hour),
        "\(name)")
      let row = subscription.row("100", of: state, margin: Self.hour)
      #expect((row["entitledUntil"] == nil) == !complete.isEntitled(at: now, margin: Self.hour), "\(name)")
      #expect(row["bundleId"] == "com.example.app" && row["environment"] == "Production", "\(name)")
      // The worker asks before the entitlement ends, or when it ends.
      let question = state.question(margin: Self.hour)
      #expect((question == nil) == (complete.question(margin: Self.hour) == nil), "\(name)")
    }
  }

  @Test(arguments: notices)
  func `the same field is missing after a complete period before`(notice: Notice) throws {
    let earlier = notification(
      .subscribed, status: .active, on: -30, transaction("99", from: -30, to: 0), renewal(until: 0))
    for (name, changed) in Self.incomplete(notice) {
      let state = SubscriptionState(after: [earlier, changed.report])
      #expect(SubscriptionState(after: [changed.report, earlier]) == state, "\(name)")
      let subscription = try #require(state.subscription, "\(name)")
      // The transaction that has no id or date is no period, so a revocation in it is unknown.
      if notice.status == .revoked, subscription.period.transactionId == "99" { continue }
      if notice.payload.data?.status != changed.payload.data?.status { continue }
      #expect(subscription.status.apple == notice.status, "\(name)")
      let isEntitled = notice.status == .active || notice.status == .billingGracePeriod
      let now = subscription.statement.signedDate + Self.hour
      #expect(subscription.isEntitled(at: now, margin: Self.hour) == isEntitled, "\(name)")
    }
  }

  @Test func `a grace period without an end lasts as long as Apple allows, from the signature on, and is asked about`()
    throws
  {
    let start = Timestamp.day(31)
    let state = SubscriptionState(after: [
      notification(
        .didFailToRenew, .gracePeriod, status: .billingGracePeriod, on: 31, transaction(from: 0, to: 30),
        renewal(until: 30))
    ])
    let subscription = try #require(state.subscription)
    let row = subscription.row("100", of: state, margin: Self.hour)
    #expect(row["status"] == "grace-period" && row["uncertain"] == "end" && row["gracePeriodExpiresDate"] == nil)
    #expect(row["entitledUntil"] == .string((start + Self.day * 28 + Self.hour).rfc3339))
    #expect(state.question(margin: Self.hour)?.isUrgent == true)
  }

  @Test func `the end of an earlier grace period is not the end of this one`() throws {
    let state = SubscriptionState(after: [
      notification(
        .didFailToRenew, .gracePeriod, status: .billingGracePeriod, on: 61, transaction("101", from: 30, to: 60),
        renewal(until: 60, grace: 46))
    ])
    let subscription = try #require(state.subscription)
    #expect(subscription.uncertainty == .end && subscription.gracePeriodExpiresDate == nil)
    #expect(subscription.isEntitled(at: .day(62), margin: Self.hour))
  }

  @Test func `billing retry without an end is asked about after Apple's 60 days`() throws {
    let state = SubscriptionState(after: [
      notification(.didFailToRenew, status: .billingRetry, on: 31, transaction(from: 0, to: nil), renewal())
    ])
    #expect(state.question(margin: Self.hour) == Question(at: .day(91) + Self.hour))
  }

  @Test func `in a grace period without an end, the worker asks at once and the row gets the end`() async throws {
    let stage = try SubscriptionStage(behaviour: Behaviour(billingFails: 1, recovers: 0))
    try await stage.running { stage in
      let id = try stage.buy("app.graceful")
      try await stage.advance(by: Self.day * 31 + Self.hour * 3)
      let failure = try #require(stage.entries().last)
      #expect(failure.facts.kind.subtype == .gracePeriod)
      let grace = try stage.happens { state, _ in try #require(state.subscriptions[id]?.graceExpires) }
      try await stage.deliver([
        stage.v2(failure) { $0.renewalInfo?.json["gracePeriodExpiresDate"] = nil }
      ])
      let row = try #require(try stage.table()["\(id)"])
      #expect(stage.appStore.asked.count == 1)
      #expect(row["status"] == "grace-period" && row["uncertain"] == nil)
      #expect(row["entitledUntil"] == .string((grace + Self.hour).rfc3339))
    }
  }

  @Test func `without credentials, a grace period without an end entitles`() async throws {
    let stage = try SubscriptionStage(hasCredentials: false, behaviour: Behaviour(billingFails: 1, recovers: 0))
    try await stage.running { stage in
      let id = try stage.buy("app.graceful")
      try await stage.advance(by: Self.day * 31 + Self.hour * 3)
      let failure = try #require(stage.entries().last)
      try await stage.deliver([
        stage.v2(failure) { $0.renewalInfo?.json["gracePeriodExpiresDate"] = nil }
      ])
      let row = try #require(try stage.table()["\(id)"])
      let until = failure.facts.signedDate + Self.day * 28 + Self.hour
      #expect(row["entitledUntil"] == .string(until.rfc3339))
    }
  }

  @Test func `a subscription's transaction without its type is no purchase that the customer keeps`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      let entry = try #require(stage.entries().first)
      try await stage.deliver([stage.v2(entry) { $0.transaction?.json["type"] = nil }])
      #expect(try stage.table()["\(id)"]?["status"] == "active")
      #expect(try stage.table(SubscriptionsWorker.purchasesTopic).isEmpty)
    }
  }
}
