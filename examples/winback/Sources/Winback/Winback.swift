import AppStore
import MillraceWorker

/// Publishes an event for each subscriber who cancelled, for example to send a win-back offer.
@main
struct Winback: NotificationWorker {
  static let name = "winback"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    guard case .expired(.voluntary) = notification.event else { return .ignore }
    return try .emit(SubscriberLeft(product: notification.transaction?.productId))
  }
}

struct SubscriberLeft: WorkerEvent {
  static let eventName = "subscriber.left"
  var product: String?
}
