// What `/readyz` and the report of the process say about the database.

internal import KafkaClient
package import MillraceCore
package import MillraceRecords
internal import Synchronization

/// The state of the session with the database.
package final class WriterStatus: Sendable {
  private struct Problem {
    var text: String
    var remedy: String
    /// The first offset of each partition that could not be written. A full disk accepts connections, and rows of other
    /// tables: the problem ends when these are written.
    var rows: [TopicPartition: Int64] = [:]
  }

  private struct State {
    var problem: Problem? = Problem(text: "not connected yet", remedy: PostgresError.connectionRemedy)
    /// The transaction that runs, by the first offset of each partition.
    var writing: [TopicPartition: Int64] = [:]
    var began: ContinuousClock.Instant?
    var lag: [String: Int64] = [:]

    /// The transaction has ended.
    mutating func end() { (writing, began) = ([:], nil) }
  }

  private let state = Mutex(State())

  package init() {}

  func lag(of topic: String, _ records: Int64) { state.withLock { $0.lag[topic] = records } }

  /// The process has these partitions from now on. Other processes write the rows of all others.
  func assigned(_ partitions: [TopicPartition]) {
    state.withLock { state in
      state.end()
      let rows = (state.problem?.rows ?? [:]).filter { partitions.contains($0.key) }
      state.problem?.rows = rows
      if partitions.isEmpty { state.problem = nil }
    }
  }

  func connected() {
    state.withLock { state in
      state.end()
      if state.problem?.rows.isEmpty == true { state.problem = nil }
    }
  }

  func began(at starts: [TopicPartition: Int64]) { state.withLock { ($0.writing, $0.began) = (starts, .now) } }

  /// - Returns: Whether nothing is left that could not be written.
  func wrote(to ends: [TopicPartition: Int64]) -> Bool {
    state.withLock { state in
      state.end()
      guard var problem = state.problem else { return true }
      problem.rows = problem.rows.filter { $0.value >= ends[$0.key] ?? 0 }
      state.problem = problem.rows.isEmpty ? nil : problem
      return problem.rows.isEmpty
    }
  }

  func failed(_ error: PostgresError) {
    state.withLock { state in
      var rows = state.problem?.rows ?? [:]
      if error.code == PostgresError.fenced {
        // Another process has written them.
        for partition in state.writing.keys { rows[partition] = nil }
      } else {
        rows.merge(state.writing) { _, newer in newer }
      }
      state.problem = Problem(text: "\(error)", remedy: error.remedy, rows: rows)
      state.end()
    }
  }

  /// Returns the report of the process.
  /// - Parameter instance: The name of the process among the writers.
  package func report(_ instance: String) -> ProcessReport {
    var report = ProcessReport(ProcessReport.postgres, instance: instance, version: MillraceVersion.current)
    state.withLock { state in
      report.problem = state.problem.map { "\($0.text); \($0.remedy)" }
      report.lag = state.lag
    }
    return report
  }

  /// The readiness check of the database: a session exists, everything could be written, and no transaction has taken
  /// longer than a minute.
  package var check: ReadinessCheck {
    ReadinessCheck("postgres", remedy: PostgresError.connectionRemedy) { [self] in
      let state = self.state.withLock { $0 }
      if let problem = state.problem { return .unhealthy(problem.text, remedy: problem.remedy) }
      if let began = state.began, ContinuousClock.now - began > .seconds(60) {
        return .unhealthy("a transaction has been running for more than a minute", remedy: "see pg_stat_activity")
      }
      return .healthy("connected")
    }
  }
}
