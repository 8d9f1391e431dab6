// Every way a request ends that is not 200, and what the client is told of it.

internal import Millrace

/// A request that was not answered 200.
struct RefusedRequest: Error, Sendable, Hashable {
  /// What metrics and logs call it.
  var label: String
  /// What the client is told.
  var problem: Problem
  /// True where the rest of the request is not worth reading.
  var closesConnection = false

  /// Neither `/v1` nor `/v2`.
  static let wrongPath = RefusedRequest(label: "wrong-path", problem: .notFound)
  /// Not POST.
  static let wrongMethod = RefusedRequest(label: "wrong-method", problem: .methodNotAllowed)
  /// The body is beyond its limit, by its header or by what arrived.
  static let tooLarge = RefusedRequest(label: "too-large", problem: .tooLarge, closesConnection: true)
  /// The client went away, or was cut off, before its body was complete.
  static let incomplete = RefusedRequest(label: "incomplete-body", problem: .malformed, closesConnection: true)
  /// The head is larger than allowed, or no HTTP. Answered by ``ConnectionGuard``: no request has come of it.
  static let malformedHead = RefusedRequest(label: "malformed-head", problem: .malformedHead, closesConnection: true)
  /// As many requests as are allowed are in flight already, or as many bytes of bodies.
  static let busy = RefusedRequest(label: "busy", problem: .unavailable, closesConnection: true)
  /// Kafka did not acknowledge in time, or refused.
  static let kafkaUnavailable = RefusedRequest(label: "kafka-unavailable", problem: .unavailable)
  /// The record is larger than the topic admits. Not the client's fault: once the topic's limit is raised, Apple's retry
  /// gets through.
  static let recordTooLarge = RefusedRequest(label: "record-too-large", problem: .unavailable)
}

extension RefusedRequest {
  /// The answer to a body that was not admitted.
  init(_ refusal: Refusal) {
    label = refusal.reason.rawValue
    problem =
      switch refusal.consequence {
      case .malformed: .malformed
      case .unauthorized: .unauthorized
      case .retryLater: .unavailable
      }
  }
}
