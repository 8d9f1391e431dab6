// How a worker reads, retries and commits: the defaults that its type declares and the configuration overrides.

/// The settings of a worker. `workers.<name>` in the configuration overrides them.
public struct WorkerPolicy: Sendable, Hashable {
  /// The order of records with the same key when one of them waits for a retry.
  public enum Ordering: String, Sendable, Hashable, CaseIterable {
    /// Later records of the key may overtake a record that waits.
    case free
    /// Later records of the key wait for it.
    case strict
  }

  /// The position from which a worker that has no committed offsets starts to read.
  public enum Start: String, Sendable, Hashable, CaseIterable {
    /// The oldest available record.
    case earliest
    /// The first record written after the worker has started.
    case latest
  }

  /// The order of records with the same key when one of them waits for a retry.
  public var ordering = Ordering.free
  /// The delays of the retry topics, in ascending order; at least one.
  public var retryDelays: [Duration] = [.seconds(10), .seconds(60), .seconds(600), .seconds(3_600), .seconds(21_600)]
  /// The number of attempts after which a record or a timer becomes a dead letter.
  public var maximumAttempts = 12
  /// The time limit of one handler run.
  public var handlerTimeout = Duration.seconds(60)
  /// The maximum number of records of a lane in memory, until they are handled. Twice as many outcomes may wait for their
  /// commit.
  public var recordsInFlight = 256
  /// The maximum size of a lane's records and uncommitted outcomes in memory, in bytes.
  public var bytesInFlight = 16 << 20
  /// The maximum number of handlers of a lane that run concurrently.
  public var parallelism = 16
  /// How long the ledger remembers that a notification was handled.
  public var ledgerHorizon = Duration.seconds(8 * 86_400)
  /// The maximum number of outcomes in one commit.
  public var commitCount = 4_000
  /// The longest time that an outcome waits before its commit starts.
  public var commitInterval = Duration.milliseconds(20)
  /// The longest time to stop a lane that is revoked or whose process shuts down. The last quarter of it, at most 5 s, is
  /// reserved for the commit; handlers that still run when it begins are cancelled.
  public var drainTimeout = Duration.seconds(20)
  /// The position from which a worker that has no committed offsets starts to read.
  public var start = Start.earliest

  /// The retry delay of a policy without usable delays: a worker needs a place for records that wait.
  package static let shortestRetryDelay = Duration.seconds(10)

  /// The retry delays in ascending order, without those that are not greater than zero; at least one.
  package var usableRetryDelays: [Duration] {
    let usable = Set(retryDelays.filter { $0 > .zero }).sorted()
    return usable.isEmpty ? [Self.shortestRetryDelay] : usable
  }

  /// Creates a policy with the default settings.
  public init() {}
}
