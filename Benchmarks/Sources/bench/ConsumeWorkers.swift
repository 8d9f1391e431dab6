// The workers that `bench consume` runs.
import AppStore
import MillraceWorker
import Synchronization

/// Does nothing and counts its calls.
struct EmptyWorker: NotificationWorker {
  static let name = "empty"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let handled = Atomic(0)

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    Self.handled.add(1, ordering: .relaxed)
    return .ignore
  }
}

/// Delays every notification by a second and records its lateness.
struct LateWorker: NotificationWorker {
  static let name = "late"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let lateness = Mutex<[Double]>([])
  static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.retryDelays = [.seconds(1)]
    return policy
  }

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    guard let due = notification.history.due else { return .retry(after: .seconds(1), because: "measured") }
    let late = (context.clock.wallTime - due) / .milliseconds(1)
    Self.lateness.withLock { $0.append(late) }
    return .ignore
  }
}
