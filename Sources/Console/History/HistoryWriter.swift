// Writes the history. Each console could write a sample of each interval; the first one does, and the others read that it
// exists. So no console has to be elected, and if two write at once, compaction keeps one of the equal records.

internal import AppStore
internal import KafkaClient
internal import Logging
internal import MillraceRecords
internal import MillraceTime
internal import ServiceLifecycle

/// Writes a sample of each interval that has none.
struct HistoryWriter: Service {
  let topic: String
  let store: ConsoleStore
  /// Connects to Kafka.
  let log: @Sendable () async throws -> any RecordLog
  let logger: Logger
  /// Real time, like Kafka's.
  var clock = MillraceClock.system
  /// How long this console waits in each interval for a sample of another one.
  var patience = Duration.milliseconds(Int64.random(in: 0..<30_000))

  /// The time between two looks at the history.
  static let pause = Duration.seconds(5)
  /// The time between two attempts to write.
  static let retry = Duration.seconds(30)

  func run() async {
    var problem: String?
    // The record may not have been read back when the next look comes.
    var written: Int64?
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      var pause = Self.pause
      do {
        if let sample = await store.missingSample(after: patience), HistorySample.interval(of: sample.at) != written {
          try await log().append([sample.record(to: topic)])
          written = HistorySample.interval(of: sample.at)
          problem = nil
        }
      } catch is CancellationError {
        return
      } catch {
        if problem != "\(error)" {
          problem = "\(error)"
          logger.warning("could not write the history; retrying", metadata: ["topic": "\(topic)", "error": "\(error)"])
        }
        pause = Self.retry
      }
      await store.reportHistory(problem)
      do {
        try await cancelWhenGracefulShutdown { [pause] in try await clock.sleep(for: pause) }
      } catch { return }
    }
  }
}
