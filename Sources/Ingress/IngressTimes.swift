// How the deadline of a request is divided, so that "503 inside the deadline" is arithmetic and not a race.

internal import Kafka
internal import Millrace

/// What each part of a request may take; together never more than `ingress.deadline`.
struct IngressTimes: Sendable, Hashable {
  /// For verifying, answering, and a busy machine.
  static let margin = Duration.milliseconds(250)
  /// How often a notification may wait for a responder: its inner tokens may be signed under another leaf than the
  /// outer one. A chain is asked about once while the answer holds.
  static let revocationChecks = 2
  /// Less than this and a healthy Kafka would be given up on.
  static let leastForKafka = Duration.milliseconds(500)

  /// From the head to the end of the body.
  let body: Duration
  /// From the complete body to Kafka's acknowledgement: librdkafka's `message.timeout.ms`.
  let kafka: Duration

  /// Divides the deadline.
  /// - Throws: ``MillraceError`` that names the keys, where too little is left for Kafka.
  init(_ configuration: MillraceConfiguration) throws(MillraceError) {
    let settings = configuration.ingress
    let revocation = configuration.trust.revocation
    body = settings.bodyTimeout
    let asking = revocation.enabled ? revocation.timeout * Self.revocationChecks : .zero
    let left = settings.deadline - body - Self.margin - asking
    guard left >= Self.leastForKafka else {
      throw MillraceError(
        .configuration,
        "ingress.bodyTimeout (and twice trust.revocation.timeout, when enabled) leave Kafka too little time",
        at: "ingress.deadline", remedy: "raise it, or lower them; Kafka needs at least \(Self.leastForKafka)")
    }
    let configured = configuration.kafka.properties["message.timeout.ms"].flatMap { Int64($0) }
    kafka = min(left, configured.map { .milliseconds($0) } ?? left)
  }
}
