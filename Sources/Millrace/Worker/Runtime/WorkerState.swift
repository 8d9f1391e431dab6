// What a probe may know of a worker.

internal import Synchronization

/// How far a worker is.
package struct WorkerReadiness: Sendable, Hashable {
  /// Whether it has an answer of its group; owning no lane is one.
  package var hasJoined = false
  /// Lanes it owns.
  package var owned = 0
  /// Whether every one of them runs.
  package var isReady = false
}

/// Keeps it.
final class WorkerState: Sendable {
  private let value = Mutex(WorkerReadiness())
  /// The lanes while the worker runs; for tests that ask when it came to rest.
  let supervisor = Mutex<LaneSupervisor?>(nil)
  /// The group's reader while the worker runs.
  let reader = Mutex<(any LogReader)?>(nil)

  var readiness: WorkerReadiness { value.withLock { $0 } }

  func note(owned: Int, isReady: Bool) {
    value.withLock { $0 = WorkerReadiness(hasJoined: true, owned: owned, isReady: isReady) }
  }
}

extension ReadinessCheck {
  /// Joined, and owned lanes restored.
  static func worker(_ runtime: WorkerRuntime, named name: String = "worker") -> ReadinessCheck {
    ReadinessCheck(name, remedy: "wait; if it lasts, look at the log for why lanes do not start") {
      let readiness = runtime.readiness
      guard readiness.hasJoined else {
        return .unhealthy("not a member of its group yet", remedy: "check that Kafka can be reached")
      }
      guard readiness.isReady else {
        return .unhealthy(
          "not all of \(readiness.owned) lanes run: ledgers are being restored", remedy: "wait for it")
      }
      return .healthy("\(readiness.owned) lanes")
    }
  }
}
