// The reasons for which the ingress refuses requests, with their responses.

internal import MillraceRecords

/// A request that was not answered 200.
struct RefusedRequest: Error, Sendable, Hashable {
  /// The reason in metrics and logs.
  var label: String
  /// The response.
  var problem: Problem
  /// Whether to close the connection instead of reading the rest of the request.
  var closesConnection = false

  /// The request asks for a tunnel (`CONNECT`), which the ingress does not offer.
  static let upgrade = RefusedRequest(label: "upgrade", problem: .malformedHead, closesConnection: true)
  /// The path is neither `/v1` nor `/v2`.
  static let wrongPath = RefusedRequest(label: "wrong-path", problem: .notFound)
  /// The method is not POST.
  static let wrongMethod = RefusedRequest(label: "wrong-method", problem: .methodNotAllowed)
  /// A version 1 notification, but no app has a shared secret.
  static let noSharedSecret = RefusedRequest(label: "no-shared-secret", problem: .unauthorized)
  /// The announced or received size of the body exceeds the limit.
  static let tooLarge = RefusedRequest(label: "too-large", problem: .tooLarge, closesConnection: true)
  /// The connection ended before the body was complete.
  static let incomplete = RefusedRequest(label: "incomplete-body", problem: .malformed, closesConnection: true)
  /// The head is too large or not valid HTTP. ``ConnectionGuard`` responds, because no request reaches the responder.
  static let malformedHead = RefusedRequest(label: "malformed-head", problem: .malformedHead, closesConnection: true)
  /// The limit of requests in flight or of body bytes is reached.
  static let busy = RefusedRequest(label: "busy", problem: .unavailable, closesConnection: true)
  /// Kafka rejected the record or did not acknowledge it in time.
  static let kafkaUnavailable = RefusedRequest(label: "kafka-unavailable", problem: .unavailable)
  /// The record exceeds the topic's limit. The response is 503, so that Apple's retry succeeds when an operator has
  /// raised the limit.
  static let recordTooLarge = RefusedRequest(label: "record-too-large", problem: .unavailable)
}

extension RefusedRequest {
  /// The same refusal, closing the connection.
  var closing: RefusedRequest {
    var refused = self
    refused.closesConnection = true
    return refused
  }

  /// Creates the refusal for a body that failed verification.
  init(_ refusal: Refusal) {
    label = refusal.reason.rawValue
    problem =
      switch refusal.response {
      case .malformed: .malformed
      case .unauthorized: .unauthorized
      case .retryLater: .unavailable
      }
  }
}
