// The worker's events. They describe requests and contain no customer data. `topics/schemas/consumption.*.schema.json`
// are their schemas.

internal import AppStore
internal import MillraceWorker

/// The request, as every event of the worker describes it.
package struct AskedPurchase: Encodable, Sendable, Hashable {
  var notificationUUID: String
  var bundleId: String
  var environment: String
  var transactionId: String
  var originalTransactionId: String?
  var productId: String?
  var productType: String?
  var answerBy: String

  init(_ question: ConsumptionQuestion) {
    notificationUUID = question.notificationId
    bundleId = question.bundleId
    environment = question.environment.rawValue
    transactionId = question.transactionId
    originalTransactionId = question.originalTransactionId
    productId = question.productId
    productType = question.productType?.rawValue
    answerBy = question.deadline.planned.rfc3339
  }

  init?(_ json: JSONObject) {
    guard let notification = json["notificationUUID"]?.text, let bundle = json["bundleId"]?.text,
      let environment = json["environment"]?.text, let transaction = json["transactionId"]?.text,
      let answerBy = json["answerBy"]?.text
    else { return nil }
    (notificationUUID, bundleId, self.environment) = (notification, bundle, environment)
    (transactionId, self.answerBy) = (transaction, answerBy)
    originalTransactionId = json["originalTransactionId"]?.text
    productId = json["productId"]?.text
    productType = json["productType"]?.text
  }

  var json: JSONObject {
    var json: JSONObject = [
      "notificationUUID": .string(notificationUUID), "bundleId": .string(bundleId),
      "environment": .string(environment), "transactionId": .string(transactionId),
    ]
    json["originalTransactionId"] = originalTransactionId.map { .string($0) }
    json["productId"] = productId.map { .string($0) }
    json["productType"] = productType.map { .string($0) }
    json["answerBy"] = .string(answerBy)
    return json
  }
}

/// Apple accepted the answer.
package struct ConsumptionSent: WorkerEvent {
  /// `consumption.sent`
  package static let eventName = "consumption.sent"
  var purchase: AskedPurchase
  /// The name of the provider that answered.
  var provider: String
  /// RFC 3339.
  var sentAt: String
  /// Seconds after `answerBy`; absent if in time.
  var lateBySeconds: Int64?
  /// The preference that Apple received.
  var refundPreference: String?
}

/// The worker will not send an answer. Nothing was sent, unless the answer was withdrawn.
package struct ConsumptionWithheld: WorkerEvent {
  /// `consumption.withheld`
  package static let eventName = "consumption.withheld"
  var purchase: AskedPurchase
  /// `no-consent`, `no-provider-knows` or `answer-withdrawn`.
  var reason: String
  /// The name of the provider that decided this.
  var provider: String?
}

/// Apple rejected the answer for good.
package struct ConsumptionRefused: WorkerEvent {
  /// `consumption.refused`
  package static let eventName = "consumption.refused"
  var purchase: AskedPurchase
  /// The name of the provider that answered.
  var provider: String
  /// Apple's error code.
  var errorCode: Int64?
  /// Apple's error message.
  var errorMessage: String?
  /// The HTTP status.
  var status: Int?
}

/// The final deadline passed without an accepted answer.
package struct ConsumptionExpired: WorkerEvent {
  /// `consumption.expired`
  package static let eventName = "consumption.expired"
  var purchase: AskedPurchase
  /// Seconds after `answerBy`; 0 if the last possible attempt failed before it.
  var lateBySeconds: Int64
  /// The reason of the last failed attempt, a stable code; `lag` if there was no attempt.
  var reason: String
  /// The details of the reason.
  var detail: String?
}

/// The answer is still missing shortly before the planned deadline.
package struct ConsumptionAtRisk: WorkerEvent {
  /// `consumption.at-risk`
  package static let eventName = "consumption.at-risk"
  var purchase: AskedPurchase
  /// Seconds until `answerBy`; 0 if it has passed.
  var remainingSeconds: Int64
  /// The reason of the last failed attempt, a stable code; `lag` if the worker itself is behind.
  var reason: String
}

/// Apple decided about the refund after it had an answer, or no decision came in time.
package struct ConsumptionOutcome: WorkerEvent {
  /// `consumption.outcome`
  package static let eventName = "consumption.outcome"
  var purchase: AskedPurchase
  /// `refunded`, `declined`, `reversed` or `none`.
  var outcome: String
  /// When Apple decided, in RFC 3339; absent without a decision.
  var decidedAt: String?
  /// Apple's `revocationPercentage` of a prorated refund, in thousandths of a percent.
  var revocationPercentage: Int64?
  /// The preference that Apple received.
  var refundPreference: String?
  /// The country of the customer's App Store, in ISO 3166-1 alpha-3; absent for a version 1 request.
  var storefront: String?
  /// RFC 3339.
  var sentAt: String

  /// - Parameter sentAt: When Apple got the answer.
  init(_ answer: RememberedAnswer, sentAt: Timestamp) {
    purchase = answer.purchase
    outcome = answer.decision?.kind.rawValue ?? "none"
    decidedAt = answer.decision?.at.rfc3339
    revocationPercentage = answer.decision?.percentage
    refundPreference = answer.preference
    storefront = answer.storefront
    self.sentAt = sentAt.rfc3339
  }
}

extension JSON {
  var text: String? { if case .string(let text) = self { text } else { nil } }
}
