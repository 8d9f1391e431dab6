// What the configuration may change of a worker's own policy.

/// `workers[]`: how one worker is run. A key that is not set leaves the worker's own policy as it is.
public struct WorkerSettings: Sendable, Hashable {
  /// The worker.
  public var name: String?
  /// What happens to the successors of a waiting record.
  public var ordering: WorkerPolicy.Ordering?
  /// Where a worker that has never run begins.
  public var start: WorkerPolicy.Start?
  /// Delays of the retry tiers, ascending.
  public var retryDelays: [Duration]?
  /// Runs of a handler before a dead letter is made.
  public var maximumAttempts: Int?
  /// How long one run of a handler may take.
  public var handlerTimeout: Duration?
  /// Handlers of one lane that run at the same time.
  public var parallelism: Int?
  /// Records of one lane in memory at most.
  public var recordsInFlight: Int?
  /// Bytes of one lane's records in memory at most.
  public var bytesInFlight: Int?
  /// How long what was handled is remembered.
  public var ledgerHorizon: Duration?
  /// How long handlers may finish when a lane moves or the process leaves.
  public var drainTimeout: Duration?
  /// `group.instance.id` of static membership; nil: a dynamic member.
  public var staticMember: String?

  /// Changes nothing.
  public init() {}
}

extension WorkerPolicy {
  /// This policy with what `settings` says instead.
  public func applying(_ settings: WorkerSettings) -> WorkerPolicy {
    var policy = self
    policy.ordering = settings.ordering ?? ordering
    policy.start = settings.start ?? start
    policy.retryDelays = settings.retryDelays ?? retryDelays
    policy.maximumAttempts = settings.maximumAttempts ?? maximumAttempts
    policy.handlerTimeout = settings.handlerTimeout ?? handlerTimeout
    policy.parallelism = settings.parallelism ?? parallelism
    policy.recordsInFlight = settings.recordsInFlight ?? recordsInFlight
    policy.bytesInFlight = settings.bytesInFlight ?? bytesInFlight
    policy.ledgerHorizon = settings.ledgerHorizon ?? ledgerHorizon
    policy.drainTimeout = settings.drainTimeout ?? drainTimeout
    return policy
  }
}

extension MillraceConfiguration {
  /// The policy of the worker called `name`.
  public func policy(of name: String, standard: WorkerPolicy) -> WorkerPolicy {
    var policy = workers.first { $0.name == name }.map { standard.applying($0) } ?? standard
    // Tiers are numbered in this order everywhere.
    policy.retryDelays = RetrySchedule(delays: policy.retryDelays, maximumAttempts: 1).delays
    return policy
  }
}
