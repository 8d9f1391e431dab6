// The newest requests one by one, for this project's own programs and tests.

package import AppStore

/// A request as the simulator met it.
package struct JournaledRequest: Sendable, Hashable {
  /// When it came, in the scenario's time.
  package let time: Timestamp
  /// nil: no endpoint of the API.
  package let endpoint: APIEndpoint?
  /// Without the query.
  package let path: String
  /// What the caller was told; nil when the connection was reset.
  package let status: Int?
  /// The fault that struck.
  package let fault: String?
}

extension APIServices {
  /// The newest requests, oldest first; ``SimulatorSettings/journalCapacity`` of them.
  package var journal: [JournaledRequest] {
    gate.withGate { $0.journal.recent }.map {
      JournaledRequest(time: $0.time, endpoint: $0.endpoint, path: $0.path, status: $0.status, fault: $0.fault)
    }
  }
}
