// The heart of the ingress: posted bytes become a record that Kafka has, or a refusal. Knows no HTTP.

internal import Clocks
internal import AppStore
internal import Kafka
internal import Logging
internal import Millrace

/// Writes records; the ingress needs no more of Kafka than this.
protocol RecordSink: Sendable {
  /// Returns once all in-sync replicas have the record.
  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition
}

extension KafkaProducer: RecordSink {}

/// Admits, routes, writes.
struct NotificationIntake: Sendable {
  let admission: NotificationAdmission
  let router: NotificationRouter
  let sink: any RecordSink
  let quarantine: Quarantine
  let clock: MillraceClock
  let metrics: IngressMetrics
  let logger: Logger

  /// Returns when Kafka has the notification (promise 1: 200 means durable).
  /// - Throws: ``RefusedRequest``; nothing was written then, or, after `kafka-unavailable`, perhaps the record, which
  ///   Apple's retry repeats under the same `ce_id`.
  func take(
    _ body: [UInt8], as version: NotificationVersion, traceParent: TraceParent
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
      throw await refuse(error, version, receivedAt, traceParent)
    }
    let record = admitted.record(
      origin: .post, traceParent: traceParent, receivedAt: receivedAt, router: router)
    try await store(record, traceParent)
    metrics.accept(version, admitted)
  }

  private func store(_ record: NotificationRecord, _ traceParent: TraceParent) async throws(RefusedRequest) {
    let started = clock.now
    var written = record.producerRecord
    // When it was received is what deadlines count from, so it is told in the time that the process lives in.
    written.timestamp = clock.wallTime.millisecondsSince1970
    do {
      _ = try await sink.send(written)
      metrics.observe(acknowledgement: started.duration(to: clock.now))
    } catch {
      logger.error(
        "Kafka did not take a notification; Apple is asked to send it again",
        metadata: [
          "topic": "\(record.topic)", "notification": "\(record.event.id)", "error": "\(error)",
          "trace": "\(traceParent)",
        ])
      throw error.code == .messageTooLarge ? .recordTooLarge : .kafkaUnavailable
    }
  }

  private func refuse(
    _ refusal: Refusal, _ version: NotificationVersion, _ receivedAt: Timestamp, _ traceParent: TraceParent
  ) async -> RefusedRequest {
    logger.log(
      level: refusal.isWorthKeeping ? .warning : .notice, "refused a notification",
      metadata: [
        "version": "\(version.rawValue)", "reason": "\(refusal.reason.rawValue)", "detail": "\(refusal.message)",
        "trace": "\(traceParent)",
      ])
    if let evidence = refusal.evidence {
      metrics.quarantine(
        await quarantine.keep(evidence, version, refusal.reason, receivedAt, secretOf: refusal.secretOf))
    }
    return RefusedRequest(refusal)
  }
}
