// The process as a worker sees it. A worker adds readiness checks, metrics and resources to close at the end.

package import MillraceCore
package import MillraceRecords
internal import Synchronization

/// The process of a worker.
package final class WorkerHost: Sendable {
  private struct State {
    var checks: [ReadinessCheck] = []
    var closings: [@Sendable () async -> Void] = []
    var circuits: [String: @Sendable () -> ProcessReport.Circuit?] = [:]
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

  /// Adds the circuit of a worker's endpoint to its reports.
  /// - Parameter circuit: Returns the circuit if it is open.
  package func report(circuit: @escaping @Sendable () -> ProcessReport.Circuit?, of worker: String) {
    state.withLock { $0.circuits[worker] = circuit }
  }

  /// Returns the open circuit of a worker's endpoint.
  func circuit(of worker: String) -> ProcessReport.Circuit? { state.withLock { $0.circuits[worker] }?() }

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
