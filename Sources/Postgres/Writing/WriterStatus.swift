// What `/readyz` and the report of the process say about the database.

package import MillraceCore
package import MillraceRecords
internal import Synchronization

/// The state of the session with the database.
package final class WriterStatus: Sendable {
  private struct State {
    var problem: String? = "not connected yet"
    var began: ContinuousClock.Instant?
    var lag: [String: Int64] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  func connected() { change(to: nil) }
  func idle() { change(to: nil) }
  func failed(_ error: PostgresError) { change(to: "\(error)") }
  func lag(of topic: String, _ records: Int64) { state.withLock { $0.lag[topic] = records } }
  func began() { state.withLock { $0.began = .now } }
  func wrote() { state.withLock { $0.began = nil } }

  private func change(to problem: String?) { state.withLock { ($0.problem, $0.began) = (problem, nil) } }

  /// Returns the report of the process.
  /// - Parameter instance: The name of the process among the writers.
  package func report(_ instance: String) -> ProcessReport {
    var report = ProcessReport(ProcessReport.postgres, instance: instance, version: MillraceVersion.current)
    state.withLock { (report.problem, report.lag) = ($0.problem, $0.lag) }
    return report
  }

  /// The readiness check of the database: a session exists, and no transaction has taken longer than a minute.
  package var check: ReadinessCheck {
    let remedy = "check postgres.url, and that the database runs and accepts this user"
    return ReadinessCheck("postgres", remedy: remedy) { [self] in
      let state = self.state.withLock { $0 }
      if let problem = state.problem { return .unhealthy(problem, remedy: remedy) }
      if let began = state.began, ContinuousClock.now - began > .seconds(60) {
        return .unhealthy("a transaction has been running for more than a minute", remedy: "see pg_stat_activity")
      }
      return .healthy("connected")
    }
  }
}
