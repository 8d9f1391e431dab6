// Keeps copies of refused bodies that may be genuine, for example after a change at Apple or for an app that is not
// configured yet. An operator can inspect and admit them later. A rate limits the writes, and the retention of each
// partition limits the size in Kafka.

internal import MillraceTime
internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

/// The outcome of keeping a copy.
enum QuarantineOutcome: String, Sendable, CaseIterable {
  /// The copy is in `millrace.quarantine`.
  case kept
  /// A copy was written less than an hour ago.
  case alreadyKept = "already-kept"
  /// The allowance for this minute is used up, so no copy was kept.
  case overAllowance = "over-allowance"
  /// The write to Kafka failed.
  case failed
}

/// Writes refused bodies to `millrace.quarantine`.
final class Quarantine: Sendable {
  private let topic: String
  private let sink: any RecordSink
  private let clock: MillraceClock
  private let gate: Mutex<QuarantineGate>

  init(topic: String, perMinute: Int, sink: any RecordSink, clock: MillraceClock) {
    self.topic = topic
    self.sink = sink
    self.clock = clock
    gate = Mutex(QuarantineGate(perMinute: perMinute, at: clock.now.elapsed))
  }

  /// Keeps a copy if there is no recent one and the allowance permits. The response to the client does not depend on
  /// it.
  func keep(
    _ body: [UInt8], _ version: NotificationVersion, _ reason: Refusal.Reason, _ receivedAt: Timestamp,
    secretOf: [String] = [], until deadline: ContinuousClock.Instant
  ) async -> QuarantineOutcome {
    let record = QuarantineRecord(
      value: body, version: version == .v1 ? .v1 : .v2, reason: reason, receivedAt: receivedAt,
      secretOf: secretOf)
    // The same version 1 body with the secret of another app counts as a different one.
    let id = ([record.id] + secretOf).joined(separator: ",")
    let partition = record.partition
    let now = clock.now.elapsed
    switch gate.withLock({ $0.decide(id, size: body.count, for: partition, at: now) }) {
    case .copy: break
    case .alreadyKept: return .alreadyKept
    case .overAllowance: return .overAllowance
    }
    do {
      _ = try await sink.send(record.producerRecord(topic: topic).timed(by: clock), until: deadline)
      return .kept
    } catch {
      // The caller counts the failure. The request is refused in any case, and Apple retries.
      gate.withLock { $0.forget(id, in: partition) }
      return .failed
    }
  }
}
