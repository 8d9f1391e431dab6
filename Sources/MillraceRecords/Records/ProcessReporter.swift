// Publishes the reports of a process: soon after a change, and otherwise twice a minute, so that readers can tell a living
// process from one that was killed.

internal import KafkaClient
package import Logging
package import MillraceTime
internal import ServiceLifecycle

/// Publishes the reports of a process until it shuts down.
package struct ProcessReporter: Service {
  private let topic: String
  private let log: any RecordLog
  private let clock: MillraceClock
  private let logger: Logger
  private let reports: @Sendable () async -> [ProcessReport]

  /// The longest time between two records of a process.
  static let interval = Duration.seconds(30)
  /// The time after which a process without a newer report counts as ended.
  package static let limit = interval * 3
  /// The time between two looks at the state.
  private static let look = Duration.seconds(3)
  /// The longest time that the end of the process waits for its last records.
  private static let patience = Duration.seconds(2)

  /// Creates the service of a process.
  /// - Parameters:
  ///   - topic: The name of `millrace.control` in Kafka.
  ///   - clock: Real time outside tests.
  ///   - reports: Returns the present reports.
  package init(
    topic: String, log: any RecordLog, clock: MillraceClock = .system, logger: Logger,
    reports: @escaping @Sendable () async -> [ProcessReport]
  ) {
    self.topic = topic
    self.log = log
    self.clock = clock
    self.logger = logger
    self.reports = reports
  }

  /// Publishes until graceful shutdown, and then removes the reports. A report that cannot be written is written later.
  package func run() async {
    while !Task.isCancelled {
      do {
        return try await log.withWriter { writer in
          let ended = await cancelWhenGracefulShutdown { await publish(through: writer) }
            .map { $0.tombstone(on: topic) }
          let isWritten =
            try await clock.result(within: Self.patience) { try await writer.send(contentsOf: ended) } != nil
          // Without it, the end of the writer would wait for records that a broker does not take.
          if !isWritten { throw CancellationError() }
        }
      } catch is CancellationError {
        return
      } catch {
        logger.warning("could not publish the report of this process; retrying", metadata: ["error": "\(error)"])
        do { try await cancelWhenGracefulShutdown { try await clock.sleep(for: Self.interval) } } catch { return }
      }
    }
  }

  /// Publishes until the task is cancelled.
  /// - Returns: The reports that are on the topic.
  private func publish(through writer: any LogWriter) async -> [ProcessReport] {
    var last: [ProcessReport] = []
    var publishedAt: MillraceClock.Instant?
    while !Task.isCancelled {
      let present = await reports()
      // What a report says is as old as this, however long Kafka takes.
      let now = clock.now
      let isDue = publishedAt.map { $0.duration(to: now) >= Self.interval } ?? true
      let due = isDue ? present : present.filter { report in !last.contains { report.hasState(of: $0) } }
      let ended = last.filter { report in !present.contains { $0.key == report.key } }
      let records = due.map { $0.record(to: topic) } + ended.map { $0.tombstone(on: topic) }
      do {
        if !records.isEmpty { _ = try await writer.send(contentsOf: records) }
        last = present
        if isDue { publishedAt = now }
      } catch {
        // Readers notice a process without a newer report; the next look writes it again.
        logger.notice("could not publish the report of this process; retrying", metadata: ["error": "\(error)"])
      }
      do { try await clock.sleep(for: Self.look) } catch { return last }
    }
    return last
  }
}
