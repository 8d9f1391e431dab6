// What the worker tells: facts about a request, nothing about a person. `topics/schemas/consumption.*.schema.json`
// describe them.

internal import AppStore
public import Millrace

/// What every event of the worker says of the request.
public struct AskedPurchase: Encodable, Sendable, Hashable {
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

/// Apple has the answer.
public struct ConsumptionSent: WorkerEvent {
  /// `consumption.sent`
  public static let eventName = "consumption.sent"
  var purchase: AskedPurchase
  /// Who knew.
  var provider: String
  /// RFC 3339.
  var sentAt: String
  /// Seconds after `answerBy`; absent when in time.
  var lateBySeconds: Int64?
  /// What Apple was told that the team would like.
  var refundPreference: String?
}

/// Nothing was sent, and nothing will be.
public struct ConsumptionWithheld: WorkerEvent {
  /// `consumption.withheld`
  public static let eventName = "consumption.withheld"
  var purchase: AskedPurchase
  /// `no-consent` or `no-provider-knows`.
  var reason: String
  /// Who said so.
  var provider: String?
}

/// Apple did not take the answer, and will not take it again.
public struct ConsumptionRefused: WorkerEvent {
  /// `consumption.refused`
  public static let eventName = "consumption.refused"
  var purchase: AskedPurchase
  /// Who knew.
  var provider: String
  /// Apple's code.
  var errorCode: Int64?
  /// Apple's words.
  var errorMessage: String?
  /// The HTTP status.
  var status: Int?
}

/// The time is over, and nothing was sent.
public struct ConsumptionExpired: WorkerEvent {
  /// `consumption.expired`
  public static let eventName = "consumption.expired"
  var purchase: AskedPurchase
  /// Seconds after `answerBy`; 0 where the last attempt that there was time for has failed.
  var lateBySeconds: Int64
  /// The last attempt's reason, a stable code; `lag` where there was none.
  var reason: String
  /// The same in words.
  var detail: String?
}

/// The answer is still missing, and the time will be over soon.
public struct ConsumptionAtRisk: WorkerEvent {
  /// `consumption.at-risk`
  public static let eventName = "consumption.at-risk"
  var purchase: AskedPurchase
  /// Seconds until `answerBy`; 0 when it has passed.
  var remainingSeconds: Int64
  /// The last attempt's reason, a stable code; `lag` where the worker itself is behind.
  var reason: String
}

extension JSON {
  /// A string's text.
  var text: String? { if case .string(let text) = self { text } else { nil } }
}
