// The process as a worker sees it. A worker adds readiness checks and metrics here, and connections to close at the end.

package import MillraceCore
internal import Synchronization

/// The process of a worker.
package final class WorkerHost: Sendable {
  private struct State {
    var checks: [ReadinessCheck] = []
    var closings: [@Sendable () async -> Void] = []
  }

  private let registry: PrometheusRegistry?
  private let state = Mutex(State())

  /// Creates a host.
  /// - Parameter registry: The metrics of the process; nil in tests.
  package init(_ registry: PrometheusRegistry? = nil) { self.registry = registry }

  /// The readiness checks that workers added.
  package var checks: [ReadinessCheck] { state.withLock(\.checks) }

  /// Adds a readiness check. Its name must be unique in the process.
  package func add(_ check: ReadinessCheck) { state.withLock { $0.checks.append(check) } }

  /// Sets the help texts of metrics.
  package func describe(_ texts: [(name: String, help: String)]) {
    for text in texts { registry?.describe(text.name, text.help) }
  }

  /// Adds something to close when the workers have stopped.
  package func whenClosing(_ close: @escaping @Sendable () async -> Void) {
    state.withLock { $0.closings.append(close) }
  }

  /// Closes everything.
  package func close() async {
    let closings = state.withLock { state in
      defer { state.closings = [] }
      return state.closings
    }
    for close in closings { await close() }
  }
}
