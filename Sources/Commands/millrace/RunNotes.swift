// The notes at the end of a command whose records workers handle afterwards.

import AppStore
import MillraceCore
import MillraceRecords
import MillraceTime
import Operations

extension Console {
  /// Says what has become of a run's records so far, and how to see it later.
  func noteOutcomes(
    of run: String, _ action: AuditRecord.Action, since start: Timestamp, in log: any RecordLog,
    _ configuration: MillraceConfiguration
  ) async throws {
    let later = "see later: millrace replay status \(run)"
    let operation = ReplayOperation(
      on: log, prefix: configuration.topics.prefix, author: "", recordClock: MillraceClock(configuration.clock))
    do {
      let counts = try await operation.counts(
        of: run, action, since: start, among: RunReaders(configuration, try TopicCatalog.load(configuration)))
      guard let counts, !counts.isEmpty else { return }
      for counts in counts { err.note(counts.sentence) }
      err.note(later)
    } catch let error as CancellationError {
      throw error
    } catch {
      // The run itself is done.
      err.note("could not count what became of the records: \(error); \(later)")
    }
  }
}
