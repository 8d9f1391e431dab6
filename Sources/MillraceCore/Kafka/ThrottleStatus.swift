// Remembers that brokers have delayed a client because of a quota, for the log and for /readyz.

internal import Synchronization

/// The delays of the last minute, of all clients of a process.
package final class ThrottleStatus: Sendable {
  /// The status of this process.
  package static let process = ThrottleStatus()

  private struct Client {
    var last: ContinuousClock.Instant
    var logged: ContinuousClock.Instant?
  }

  private let clients = Mutex<[String: Client]>([:])

  /// How long a delay is reported after it, and the time between two lines of the log.
  package static let window = Duration.seconds(60)

  /// Creates a status without delays.
  package init() {}

  /// Records a delay.
  /// - Returns: Whether to log it: the last line about this client is older than ``window``.
  package func note(_ client: String, at now: ContinuousClock.Instant) -> Bool {
    clients.withLock { clients in
      let logged = clients[client]?.logged
      let isDue = logged.map { $0.duration(to: now) >= Self.window } ?? true
      clients[client] = Client(last: now, logged: isDue ? now : logged)
      return isDue
    }
  }

  /// The clients that were delayed within the last minute, sorted.
  package func throttled(at now: ContinuousClock.Instant) -> [String] {
    clients.withLock { clients in
      clients.filter { $0.value.last.duration(to: now) < Self.window }.keys.sorted()
    }
  }

  /// An entry of `/readyz`, which is healthy: a quota delays records and refuses none. Nil if no client was delayed.
  package func entry(at now: ContinuousClock.Instant) -> HealthReport.Entry? {
    let clients = throttled(at: now)
    guard !clients.isEmpty else { return nil }
    return HealthReport.Entry(
      name: "kafka-quota",
      outcome: .healthy(
        "a quota of the cluster has delayed the clients \(clients.joined(separator: ", ")) within the last minute"))
  }
}
