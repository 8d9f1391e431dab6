// Copies of refused bodies that may be genuine, so that a change at Apple, or an app nobody configured yet, can be
// looked at and admitted later. Bounded on the way in by a rate, in Kafka by the topic's retention.

internal import Clocks
internal import AppStore
internal import Kafka
internal import Millrace
internal import Synchronization

/// What became of a copy.
enum QuarantineOutcome: String, Sendable, CaseIterable {
  /// It is in `millrace.quarantine`.
  case kept
  /// The allowance for this minute is used up. The body was refused all the same, and is not kept.
  case overAllowance = "over-allowance"
  /// Kafka did not take it.
  case failed
}

/// Writes refused bodies to `millrace.quarantine`.
final class Quarantine: Sendable {
  private let topic: String
  private let sink: any RecordSink
  private let clock: MillraceClock
  private let allowance: Mutex<QuarantineAllowances>

  init(topic: String, perMinute: Int, sink: any RecordSink, clock: MillraceClock) {
    self.topic = topic
    self.sink = sink
    self.clock = clock
    allowance = Mutex(QuarantineAllowances(perMinute: perMinute, at: clock.now.elapsed))
  }

  /// Keeps a copy if this minute's allowance has room. The answer does not depend on it.
  func keep(
    _ body: [UInt8], _ version: NotificationVersion, _ reason: Refusal.Reason, _ receivedAt: Timestamp,
    secretOf: [String] = []
  ) async -> QuarantineOutcome {
    let now = clock.now.elapsed
    guard allowance.withLock({ $0.take(for: reason, at: now) }) else { return .overAllowance }
    let record = QuarantineRecord(
      value: body, version: version == .v1 ? .v1 : .v2, reason: reason, receivedAt: receivedAt,
      secretOf: secretOf)
    do {
      _ = try await sink.send(record.producerRecord(topic: topic))
      return .kept
    } catch {
      // Counted by the caller; the request is refused and retried by Apple either way.
      return .failed
    }
  }
}
