// What the lanes of a worker share.

internal import AppStore
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

/// The dependencies that the lanes of a worker share.
struct LaneParts: Sendable {
  var log: any RecordLog
  var commands: CommandConsumer
  var policy: WorkerPolicy
  /// Whether readers see the records of one write all at once.
  var isTransactional: Bool
  var topics: WorkerTopics
  var planner: OutcomePlanner
  var handler: any LaneHandling
  var deadline: @Sendable (NotificationEnvelope, Timestamp) -> Timestamp?
  var erasure = ErasureRules()
  var committer: Committer
  /// The time limits of handler runs.
  var limits: TimeLimits
  var clock: MillraceClock
  var metrics: WorkerMetrics
  var failures: FailureLog
  var dryRun: DryRunJournal?
  var logger: Logger

  var readRetry: TopicReadRetry { TopicReadRetry(topics: topics, log: log, clock: clock, logger: logger) }

  /// Counts and logs offsets whose records were deleted before the worker read them, unless this process has counted
  /// them before.
  func report(lost: Range<Int64>, of source: TopicPartition) {
    let count = metrics.lost(lost, of: source)
    guard count > 0 else { return }
    logger.error(
      """
      records were deleted before this worker read them; increase `retention.ms`, and fetch the missing notifications \
      from Apple's history (`millrace backfill`)
      """,
      metadata: [
        "source": "\(source)", "read": "\(lost.lowerBound)", "oldest": "\(lost.upperBound)",
        "records-at-most": "\(count)",
      ])
  }

  /// Recognizes the topics that a lane has read.
  var check: TopicCheck { TopicCheck(log: log, clock: clock) }

  /// The part that the decisions of a lane depend on.
  var rules: LaneRules {
    LaneRules(
      policy: policy, topics: topics, planner: planner, deadline: deadline, erasure: erasure, metrics: metrics,
      failures: failures, dryRun: dryRun, logger: logger)
  }
}
