// The core of the ingress, independent of HTTP: it verifies a posted body and writes it to Kafka, or refuses it.

internal import MillraceTime
internal import AppStore
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords

/// The part of the Kafka producer that the ingress uses.
protocol RecordSink: Sendable {
  /// Returns when all in-sync replicas have the record. Throws at the deadline.
  func send(
    _ record: ProducerRecord, until deadline: ContinuousClock.Instant
  ) async throws(KafkaError) -> RecordPosition
}

extension KafkaProducer: RecordSink {}

/// Verifies, routes and writes notifications.
struct NotificationIntake: Sendable {
  let admission: NotificationAdmission
  let router: NotificationRouter
  let sink: any RecordSink
  let quarantine: Quarantine
  let clock: MillraceClock
  let metrics: IngressMetrics
  let sends: SendHealth
  let refusals: RepeatedLog

  /// Returns when Kafka has acknowledged the notification (promise 1: 200 means durable).
  /// - Parameter deadline: When to stop waiting for Kafka, in real time.
  /// - Throws: ``RefusedRequest``. Nothing was written, except that after `kafka-unavailable` the record may be in
  ///   Kafka. Apple's retry then has the same `ce_id`.
  func accept(
    _ body: [UInt8], as version: NotificationVersion, traceParent: TraceParent, until deadline: ContinuousClock.Instant
  ) async throws(RefusedRequest) {
    let receivedAt = clock.wallTime
    let admitted: AdmittedNotification
    do {
      admitted =
        switch version {
        case .v1: try admission.v1(body: body)
        case .v2: try await admission.v2(body: body)
        }
    } catch {
      throw await refuse(error, version, receivedAt, traceParent, deadline)
    }
    let record = admitted.record(
      origin: .post, traceParent: traceParent, receivedAt: receivedAt, router: router)
    try await store(record, traceParent, deadline)
    metrics.accept(version, admitted)
  }

  private func store(
    _ record: NotificationRecord, _ traceParent: TraceParent, _ deadline: ContinuousClock.Instant
  ) async throws(RefusedRequest) {
    let started = ContinuousClock.now
    do {
      _ = try await sink.send(record.producerRecord.timed(by: clock), until: deadline)
      metrics.observe(acknowledgement: started.duration(to: .now))
      sends.succeeded()
    } catch {
      if error.code != .messageTooLarge { sends.failed() }
      let refused = error.code == .messageTooLarge ? RefusedRequest.recordTooLarge : .kafkaUnavailable
      refusals.add(
        .error, "Kafka did not acknowledge a notification; responding 503 so that Apple retries", reason: refused.label,
        [
          "topic": "\(record.topic)", "notification": "\(record.event.id)", "error": "\(error)",
          "trace": "\(traceParent)",
        ])
      throw refused
    }
  }

  private func refuse(
    _ refusal: Refusal, _ version: NotificationVersion, _ receivedAt: Timestamp, _ traceParent: TraceParent,
    _ deadline: ContinuousClock.Instant
  ) async -> RefusedRequest {
    let level = refusal.isWorthKeeping ? Logger.Level.warning : .notice
    refusals.add(
      level, "refused a notification", reason: "\(level) \(version.rawValue) \(refusal.reason.rawValue)",
      [
        "version": "\(version.rawValue)", "reason": "\(refusal.reason.rawValue)", "detail": "\(refusal.message)",
        "trace": "\(traceParent)",
      ])
    if let evidence = refusal.evidence {
      metrics.quarantine(
        await quarantine.keep(
          evidence, version, refusal.reason, receivedAt, secretOf: refusal.secretOf, until: deadline))
    }
    return RefusedRequest(refusal)
  }
}
