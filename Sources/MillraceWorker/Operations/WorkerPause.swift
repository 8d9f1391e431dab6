// Whether operators have paused a worker. The instruction is a record of `millrace.operations`, as for a run.

package import KafkaClient
internal import Logging
internal import MillraceTime

/// The pause of one worker, as its handlers see it.
package actor WorkerPause {
  /// How long an answer of ``isPaused()`` counts.
  package static let interval = Duration.seconds(1)

  private let table: TopicTable<RunVerb?>
  private let clock: MillraceClock
  private let logger: Logger
  private var last: (isPaused: Bool, at: MillraceClock.Instant)?

  /// - Throws: ``MillraceError`` in a setup that a test created.
  package init(_ setup: WorkerSetup) throws {
    let name = setup.name
    table = try setup.table("millrace.operations", nil) { Self.fold(&$0, $1, of: name) }
    clock = setup.clock
    logger = setup.logger
  }

  /// The name that instructions for a worker have instead of a run's id.
  package static func run(of worker: String) -> String { "workers/\(worker)" }

  /// Applies a record of `millrace.operations` to the last instruction for a worker.
  package static func fold(_ verb: inout RunVerb?, _ record: ConsumerRecord, of worker: String) {
    do throws(UnreadableRecord) {
      guard case .control(let control)? = try OperationsRecord.read(record), control.run == run(of: worker) else {
        return
      }
      verb = control.verb
    } catch {
      // The worker's reader of commands reports and counts records that cannot be read.
    }
  }

  /// Whether the worker is paused, as of at most ``interval`` ago. If Kafka does not answer, the last answer counts.
  /// - Throws: `KafkaError` if there is no last answer.
  package func isPaused() async throws -> Bool {
    if let last, last.at.duration(to: clock.now) < Self.interval * clock.rate { return last.isPaused }
    do {
      let isPaused = try await table.current() == .pause
      if let last, last.isPaused != isPaused { logger.notice(isPaused ? "the worker is paused" : "the worker goes on") }
      last = (isPaused, clock.now)
      return isPaused
    } catch {
      guard let last else { throw error }
      logger.warning("cannot read whether the worker is paused; it stays as it is", metadata: ["error": "\(error)"])
      return last.isPaused
    }
  }
}
