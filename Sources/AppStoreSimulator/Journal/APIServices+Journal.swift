// The newest requests in detail, for this project's own programs and tests.

package import AppStore

/// A request as the simulator received it.
package struct JournaledRequest: Sendable, Hashable {
  /// The time of arrival, by the scenario's clock.
  package let time: Timestamp
  /// The endpoint; nil if the path is not part of the API.
  package let endpoint: SimulatedEndpoint?
  /// The path, without the query.
  package let path: String
  /// The response's status; nil if the connection was reset.
  package let status: Int?
  /// The fault that affected the request.
  package let fault: String?
}

extension APIServices {
  /// The newest requests, oldest first; at most ``SimulatorSettings/journalCapacity``.
  package var journal: [JournaledRequest] {
    gate.withGate { $0.journal.recent }.map {
      JournaledRequest(time: $0.time, endpoint: $0.endpoint, path: $0.path, status: $0.status, fault: $0.fault)
    }
  }
}
