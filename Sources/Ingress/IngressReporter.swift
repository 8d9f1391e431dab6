// Publishes the report of the ingress once its topic exists. Without the topic the ingress works, and says once that the
// report is missing.

internal import KafkaClient
internal import Logging
internal import MillraceRecords
internal import MillraceTime
internal import ServiceLifecycle

/// Publishes the report of this process until graceful shutdown.
///
/// It has a producer of its own. At the end of the process, records of notifications are awaited for minutes, and a report
/// that Kafka does not take is dropped.
struct IngressReporter: Service {
  let topic: String
  let kafka: KafkaConfiguration
  let admin: KafkaAdmin
  let timeout: Duration
  let logger: Logger
  /// The clock of the reports, in real time.
  var clock = MillraceClock.system
  /// Returns the present report.
  let report: @Sendable () -> ProcessReport

  private static let interval = Duration.seconds(30)

  func run() async {
    guard let log = await cancelWhenGracefulShutdown({ await connect() }) else { return }
    await ProcessReporter(topic: topic, log: log, clock: clock, logger: logger) { [report] in [report()] }.run()
  }

  /// Waits for Kafka and the topic. A write to a missing topic could make the broker create it.
  /// - Returns: Nil if the process ends before.
  private func connect() async -> KafkaLog? {
    var isSaid = false
    while !Task.isCancelled {
      do {
        if try await !admin.describeTopics([topic], withSettings: false, timeout: timeout).isEmpty {
          return try await KafkaLog.connect(kafka, timeout: timeout)
        }
        if !isSaid {
          logger.notice(
            "the topic of the ingress's reports is missing; run millrace topics apply", metadata: ["topic": "\(topic)"])
        }
        isSaid = true
      } catch {
        if !isSaid {
          logger.notice(
            "could not reach the topic of the ingress's reports; retrying",
            metadata: ["topic": "\(topic)", "error": "\(error)"])
        }
        isSaid = true
      }
      do { try await clock.sleep(for: Self.interval) } catch { break }
    }
    return nil
  }
}
