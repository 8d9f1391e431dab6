import AppStore
import Millrace

/// Says which subscribers left on purpose, so that somebody can ask them back.
@main
struct Winback: NotificationWorker {
  static let name = "winback"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    guard case .expired(.voluntary) = notification.event else { return .ignore }
    return try .emit(SubscriberLeft(product: notification.transaction?.productId))
  }
}

struct SubscriberLeft: WorkerEvent {
  static let eventName = "subscriber.left"
  var product: String?
}
