// What `/readyz` says about the database.

package import MillraceCore
internal import Synchronization

/// The state of the session with the database.
package final class WriterStatus: Sendable {
  private struct State {
    var problem: String? = "not connected yet"
    var began: ContinuousClock.Instant?
  }

  private let state = Mutex(State())

  package init() {}

  func connected() { state.withLock { $0 = State(problem: nil) } }
  func idle() { state.withLock { $0 = State(problem: nil) } }
  func failed(_ error: PostgresError) { state.withLock { $0 = State(problem: "\(error)") } }
  func began() { state.withLock { $0.began = .now } }
  func wrote() { state.withLock { $0.began = nil } }

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
