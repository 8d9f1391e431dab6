// The state of a worker that its readiness probe reports.

internal import Synchronization
internal import MillraceCore
internal import MillraceRecords

/// The readiness of a worker.
package struct WorkerReadiness: Sendable, Hashable {
  /// Whether the group has sent an assignment, which may be empty.
  package var hasJoined = false
  /// The number of owned lanes.
  package var owned = 0
  /// Whether all owned lanes run.
  package var isReady = false
  /// The reason why the worker is rejoining its group, or nil if it is not.
  package var rejoinReason: String?
}

/// Holds the readiness and the running parts of a worker.
final class WorkerState: Sendable {
  private let value = Mutex(WorkerReadiness())
  private let isConfirming = Atomic(false)
  private let timers = Mutex<[Int]>([])
  /// The lanes while the worker runs, for tests that wait until it is idle.
  let supervisor = Mutex<LaneSupervisor?>(nil)
  /// The group's reader while the worker runs.
  let reader = Mutex<(any LogReader)?>(nil)

  var readiness: WorkerReadiness {
    isConfirming.load(ordering: .relaxed) ? WorkerReadiness(rejoinReason: "name-unclear") : value.withLock { $0 }
  }

  func note(owned: Int, isReady: Bool) {
    value.withLock { value in
      // While the worker rejoins, changes of its dropped lanes do not matter.
      if value.rejoinReason == nil { value = WorkerReadiness(hasJoined: true, owned: owned, isReady: isReady) }
    }
  }

  /// The number of failing timers: the larger one of the last two measurements, because a lane that moves has none.
  var failingTimers: Int { timers.withLock { $0.max() ?? 0 } }

  /// Records a measurement of the failing timers.
  func note(failingTimers count: Int) { timers.withLock { $0 = $0.suffix(1) + [count] } }

  /// Records that the worker has lost its producer, or was fenced, and rejoins its group.
  func rejoining(_ reason: ProducerLoss.Reason) {
    value.withLock { $0 = WorkerReadiness(rejoinReason: reason.rawValue) }
  }

  /// Records whether the worker waits until it is clear who has its name. Until then it is not ready, and changes of its
  /// lanes are kept.
  func confirmName(isWaiting: Bool) { isConfirming.store(isWaiting, ordering: .relaxed) }

  /// Records that the group has sent an assignment.
  func joined() { value.withLock { $0.rejoinReason = nil } }
}

extension ReadinessCheck {
  /// Checks that the worker has joined its group and that all of its lanes run.
  static func worker(_ runtime: WorkerRuntime, named name: String = "worker") -> ReadinessCheck {
    ReadinessCheck(name, remedy: "wait; if this persists, check the log for lanes that cannot start") {
      let readiness = runtime.readiness
      if let reason = readiness.rejoinReason {
        return .unhealthy(
          "rejoining its group (\(reason))",
          remedy: "wait; the log names the reason")
      }
      guard readiness.hasJoined else {
        return .unhealthy(
          "not a member of its group yet",
          remedy: "check that Kafka can be reached, and the log for a missing right to the group")
      }
      guard readiness.isReady else {
        return .unhealthy(
          "not all of \(readiness.owned) lanes run yet; ledgers are being restored", remedy: "wait")
      }
      return .healthy("\(readiness.owned) lanes")
    }
  }
}
