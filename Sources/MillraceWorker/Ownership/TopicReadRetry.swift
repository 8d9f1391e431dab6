// Repeats reads that fail while brokers are unavailable, or because they do not know a topic yet.

internal import KafkaClient
internal import Logging
internal import MillraceRecords
internal import MillraceTime

/// Repeats reads of a worker's own topics.
///
/// The worker has seen its topics when it started. So if a broker does not know one, the broker has just started, or the
/// topic was deleted meanwhile. After a minute the worker looks.
struct TopicReadRetry: Sendable {
  let topics: WorkerTopics
  let log: any RecordLog
  let clock: MillraceClock
  let logger: Logger

  private static let longestPause = Duration.seconds(5)
  static let unknownTopicLimit = Duration.seconds(60)

  /// Calls `body` until it succeeds.
  /// - Parameter what: The first words of the log message, such as "cannot start a lane".
  /// - Throws: Other errors of `body`; ``MillraceError`` if a topic is missing.
  func run<Value>(
    _ what: String, metadata: Logger.Metadata = [:], _ body: () async throws -> Value
  ) async throws -> Value {
    var backoff = Backoff(from: .milliseconds(100), upTo: Self.longestPause)
    var unknownSince: MillraceClock.Instant?
    while true {
      let began = clock.now
      do {
        if let unknownSince, unknownSince.duration(to: began) >= Self.unknownTopicLimit {
          _ = try await LaneCount.check(topics, on: log)
        }
        return try await body()
      } catch let error as KafkaError where error.isRetriable || error.isUnknownTopic {
        logger.warning("\(what); retrying", metadata: metadata.merging(["error": "\(error)"]) { $1 })
        let now = clock.now
        // A read that worked for longer has met another fault.
        if began.duration(to: now) > Self.unknownTopicLimit {
          backoff.reset()
          unknownSince = nil
        }
        unknownSince = error.isUnknownTopic ? unknownSince ?? now : nil
        try await clock.sleep(until: now.advanced(by: backoff.next()))
      }
    }
  }

  /// Returns once a broker knows all topics of the worker.
  /// - Throws: ``MillraceError`` if a topic is still missing after a minute.
  func confirmTopics() async throws {
    let end = clock.now.advanced(by: Self.unknownTopicLimit)
    while true {
      do {
        return _ = try await LaneCount.check(topics, on: log)
      } catch let error as MillraceError where clock.now < end {
        logger.warning("a broker does not know a topic; asking again", metadata: ["error": "\(error)"])
      } catch let error as KafkaError {
        logger.warning("cannot look up the topics; retrying", metadata: ["error": "\(error)"])
      }
      try await clock.sleep(until: clock.now.advanced(by: Self.longestPause))
    }
  }
}
