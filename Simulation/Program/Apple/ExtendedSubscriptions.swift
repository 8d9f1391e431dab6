// The subscriptions that Apple extends when it is asked. Apple forgets a request after an hour, and then extends the
// subscription again.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
internal import MillraceCore

final class ExtendedSubscriptions: @unchecked Sendable {
  private struct Extension {
    var request: String
    var at: Timestamp
  }

  static let days = 7

  private let apple: AppleModel
  private let start: Timestamp
  /// What Apple did.
  private var journal: [String: [Extension]] = [:]

  init(_ apple: AppleModel) { (self.apple, start) = (apple, apple.now) }

  /// Apple refuses the others for good.
  static func isEligible(_ subscription: String) -> Bool { !subscription.hasSuffix("4") }

  func isExtended(_ subscription: String) -> Bool { journal[subscription] != nil }

  /// The subscriptions that were extended more than once.
  var repeated: [String] {
    journal.filter { $0.value.count > 1 }.map { "Apple extended \($0.key) \($0.value.count) times" }.sorted()
  }

  /// The subscription's period, which ends later if Apple has extended it.
  func transaction(of subscription: String) -> TransactionPayload {
    var transaction = apple.transaction("\(subscription).1", of: subscription, at: start)
    let shift = Duration.seconds(86_400 * Self.days * (journal[subscription]?.count ?? 0))
    transaction.expiresDate = transaction.expiresDate.map { $0 + shift }
    return transaction
  }

  /// Extends a subscription, or returns its status.
  func answer(to call: AppleCall) throws -> ExchangeAnswer {
    let path = Array(call.path.dropFirst(3))
    switch (path.first, path.count) {
    case ("extend", 2): return try extend(path[1], call)
    case (let subscription?, 1):
      var transaction = transaction(of: subscription)
      transaction.signedDate = apple.now
      return try apple.statuses(of: transaction, .active)
    default: return AppleModel.refusal(404, 4_040_001)
    }
  }

  private func extend(_ subscription: String, _ call: AppleCall) throws -> ExchangeAnswer {
    guard Self.isEligible(subscription) else { return AppleModel.refusal(403, 4_030_004) }
    let request = ExtendRenewalDateRequest(json: try JSONObject(parsing: call.body)).requestIdentifier ?? ""
    let before = journal[subscription, default: []]
    let isKnown = before.contains { $0.request == request && apple.now - $0.at < .seconds(3_600) }
    if !isKnown {
      guard before.count < 2 else { return AppleModel.refusal(403, 4_030_005) }
      journal[subscription, default: []].append(Extension(request: request, at: apple.now))
    }
    return ExchangeAnswer(
      status: 200,
      body: AppleModel.json([
        "originalTransactionId": .string(subscription), "webOrderLineItemId": "1", "success": true,
        "effectiveDate": transaction(of: subscription).expiresDate?.jsonValue ?? .null,
      ]))
  }
}
