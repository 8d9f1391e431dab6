// Divides the deadline of a request among its parts, so that a 503 is always sent within the deadline. All times are
// real time, even if `clock` is compressed, because Kafka and HTTP clients use real time.

internal import KafkaClient
internal import MillraceCore

/// The time limits for the parts of a request. Their sum never exceeds `ingress.deadline`.
struct IngressTimes: Sendable, Hashable {
  /// The reserve for sending the response and for scheduling delays.
  static let margin = Duration.milliseconds(750)
  /// The number of revocation checks for one notification. Its inner tokens may be signed with another leaf certificate
  /// than the outer one. Results for a chain are cached while they are valid.
  static let revocationChecks = 2
  /// The minimum time for Kafka. With less, the ingress would give up on a healthy cluster.
  static let leastForKafka = Duration.milliseconds(500)
  /// How long librdkafka keeps an unacknowledged record; the same default as `delivery.timeout.ms` of Kafka's Java
  /// producer. Giving up a record starts a new producer epoch, in which brokers do not detect duplicates of resent
  /// records. The time is therefore longer than an outage that replication survives.
  static let delivery = Duration.seconds(120)

  /// From the head to the end of the body.
  let body: Duration
  /// From the head to the 503 if Kafka has not acknowledged. Kafka gets the time that the body and the checks do not
  /// use.
  let answer: Duration
  /// The longest time for Kafka, if the body arrives at once.
  let kafka: Duration
  /// How long librdkafka tries to write a record (`message.timeout.ms`).
  let delivery: Duration

  /// Divides the deadline.
  /// - Throws: ``MillraceError`` that names the keys if too little time is left for Kafka.
  init(_ configuration: MillraceConfiguration) throws(MillraceError) {
    let settings = configuration.ingress
    let revocation = configuration.trust.revocation
    body = settings.bodyTimeout
    answer = settings.deadline - Self.margin
    let asking = revocation.enabled ? revocation.timeout * Self.revocationChecks : .zero
    guard answer - body - asking >= Self.leastForKafka else {
      throw MillraceError(
        .configuration,
        "ingress.bodyTimeout (plus twice trust.revocation.timeout, if enabled) leaves too little time for Kafka",
        at: "ingress.deadline",
        remedy: "raise ingress.deadline or lower the timeouts; Kafka needs at least \(Self.leastForKafka)")
    }
    let properties = configuration.kafka.properties
    let configured = (properties["message.timeout.ms"] ?? properties["delivery.timeout.ms"])
      .flatMap { Int64($0) }.map { Duration.milliseconds($0) }
    delivery = configured ?? Self.delivery
    kafka = min(answer, delivery)
  }

  /// Returns when a request whose head arrived at `start` stops waiting for Kafka.
  func kafkaDeadline(from start: ContinuousClock.Instant) -> ContinuousClock.Instant {
    min(start + answer, ContinuousClock.now + kafka)
  }
}
