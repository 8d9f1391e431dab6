// The notifications that the ingress accepted, and those that have to be posted again.

import AppStore
import AppStoreSimulator
import MillraceTime
import ScenarioRig
import Synchronization

final class AcceptedNotifications: Sendable {
  private struct State {
    /// The time of the first acceptance by `notificationUUID`, in the scenario's time.
    var moments: [String: Timestamp] = [:]
    var failed: [DeliveryAttempt] = []
    var failures = 0

    mutating func accept(_ uuid: String, _ time: Timestamp) { if moments[uuid] == nil { moments[uuid] = time } }
  }

  private let state = Mutex(State())

  /// The number of failed attempts. Apple's next attempt is an hour later, after the end of the run.
  var failures: Int { state.withLock { $0.failures } }

  /// The time of the first acceptance.
  subscript(uuid: String) -> Timestamp? { state.withLock { $0.moments[uuid] } }

  func add(_ attempt: DeliveryAttempt) {
    state.withLock { state in
      if attempt.outcome?.result == .success {
        state.accept(attempt.notificationUUID, attempt.date)
      } else if !attempt.isDuplicate {
        state.failed.append(attempt)
        state.failures += 1
      }
    }
  }

  /// Posts failed notifications again.
  func postFailed(_ clock: MillraceClock) async throws {
    let failed = state.withLock { state in
      defer { state.failed = [] }
      return state.failed
    }
    for attempt in failed {
      let status = try await Web.post(attempt.body, to: attempt.url)
      guard status == 200 else { throw RunError("the ingress answered \(status) to a genuine notification") }
      state.withLock { $0.accept(attempt.notificationUUID, clock.wallTime) }
    }
  }
}
