// Decides when a worker that lost its transactional producer or its place in the group continues in the same process, and
// when it gives up.

internal import MillraceTime
internal import KafkaClient

/// The loss of a transactional producer, or of the static member that the process was in its group.
///
/// Only Kafka knows the result of its last transaction, so no outcome in memory is written again. A new producer takes
/// over the transactional id, and every lane restarts from its committed offsets and its ledger.
struct ProducerLoss: Error, Sendable, CustomStringConvertible {
  /// The reason of the loss, which is the metric label `reason`.
  enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The broker has a newer epoch of the transactional id: another producer uses it, or a transaction timed out.
    case fenced
    /// It is unknown whether a commit was applied.
    case unclearCommit = "unclear-commit"
    /// Any other fatal error of the producer.
    case fatal
    /// The group refuses the process, because it has another member with the process's name.
    case fencedInstance = "fenced-instance"
  }

  var reason: Reason
  /// The error that ended the producer or the consumer.
  var error: KafkaError

  /// Classifies an error of a transactional call. Nil if a new producer would fail in the same way: the broker rejects
  /// the record, or this process lacks a permission.
  init?(_ error: KafkaError, isCommitUnclear: Bool = false) {
    guard !error.isRefusal, !Self.denials.contains(error.code) else { return nil }
    self.error = error
    switch error.code {
    case .fenced, .invalidProducerEpoch: reason = .fenced
    case .invalidTransactionState: reason = .unclearCommit
    case .fencedInstance: reason = .fencedInstance
    default: reason = isCommitUnclear ? .unclearCommit : .fatal
    }
  }

  var description: String { "\(reason.rawValue): \(error)" }

  private static let denials: Set<KafkaError.Code> = [
    .transactionalIDAuthorizationFailed, .groupAuthorizationFailed, .clusterAuthorizationFailed,
    .invalidConfiguration, .unsupported,
  ]
}

/// Limits how often a worker rejoins, and how long it waits before each time.
struct RejoinLimit: Sendable {
  /// The maximum number of consecutive losses without a committed transaction between them.
  static let mostInARow = 6
  /// The maximum number of losses within ``window``, with or without commits between them.
  static let most = 20
  static let window = Duration.seconds(600)

  private var inARow = 0
  private var losses: [MillraceClock.Instant] = []
  private var pauses = Backoff(from: .milliseconds(250), upTo: .seconds(15))
  private var pausesWhenFenced = Backoff(from: .milliseconds(250), upTo: .seconds(15))

  /// Counts the loss of a producer.
  /// - Parameter hasCommitted: Whether the producer had committed a transaction.
  /// - Returns: The time to wait before the worker rejoins; nil if it has lost producers too often.
  mutating func lost(now: MillraceClock.Instant, hasCommitted: Bool) -> Duration? {
    if hasCommitted { pauses.reset() }
    inARow = hasCommitted ? 1 : inARow + 1
    pausesWhenFenced.reset()
    losses.removeAll { $0.duration(to: now) > Self.window }
    losses.append(now)
    guard inARow < Self.mostInARow, losses.count < Self.most else { return nil }
    return pauses.next()
  }

  /// Returns the time to wait before a worker rejoins that the group has fenced. It never gives up: an outage can fence
  /// it any number of times.
  /// - Parameter hasCommitted: Whether the worker had committed a transaction.
  mutating func fenced(hasCommitted: Bool) -> Duration {
    if hasCommitted { pausesWhenFenced.reset() }
    return pausesWhenFenced.next()
  }
}
