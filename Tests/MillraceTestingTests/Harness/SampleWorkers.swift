import AppStore
import AppStoreServerAPI
import MillraceTime
import MillraceCore
import MillraceRecords
import MillraceWorker
import Synchronization

/// Publishes voluntary cancellations. Other notification types select other outcomes.
struct Winback: NotificationWorker {
  static let name = "winback"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    switch notification.event {
    case .expired(.voluntary): try .emit(SubscriberLeft(product: notification.transaction?.productId))
    case .didFailToRenew: .retry(after: .seconds(60), because: "not-yet")
    case .gracePeriodExpired: .deadLetter("no-use", "cannot be handled")
    case .offerRedeemed: throw Trouble()
    default: .ignore
    }
  }

  struct Trouble: Error {}
}

struct SubscriberLeft: WorkerEvent {
  static let eventName = "subscriber.left"
  var product: String?
}

/// Publishes the order in which it handles notifications. Fails the first attempt of `DID_FAIL_TO_RENEW`.
struct Recorder: NotificationWorker {
  static let name = "recorder"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.ordering = .strict
    return policy
  }

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    if case .didFailToRenew = notification.event, context.attempt == 0 { throw HandlerFailed("first try") }
    return try .emit(Handled(id: notification.id))
  }

  struct Handled: WorkerEvent {
    static let eventName = "handled"
    var id: String
  }
}

/// Causes an effect in a receiver that deduplicates by body, and fails once after it.
struct Extender: NotificationWorker {
  static let name = "extender"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let calls = Mutex<[String: Int]>([:])

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let answer = try await context.once("extend/\(notification.id)", body: Array(notification.id.utf8)) { intent in
      Self.calls.withLock { $0[intent.name, default: 0] += 1 }
      return Array("done".utf8)
    }
    if context.attempt == 0 { throw HandlerFailed("after the effect") }
    return try .emit(Extended(answer: String(decoding: answer, as: UTF8.self)))
  }

  struct Extended: WorkerEvent {
    static let eventName = "extended"
    var answer: String
  }
}

/// Sets a timer for each notification.
struct Reminder: NotificationWorker {
  static let name = "reminder"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    switch notification.event {
    case .expired: Outcome.ignore.cancellingTimer("remind")
    default: Outcome.ignore.settingTimer("remind", at: context.clock.wallTime + .seconds(3_600), payload: [7])
    }
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    try .emit(Reminded(payload: timer.payload.map { Int($0) }))
  }

  struct Reminded: WorkerEvent {
    static let eventName = "reminded"
    var payload: [Int]
  }
}

/// Makes one call to Apple for each notification.
struct Caller: NotificationWorker {
  static let name = "caller"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let client = try context.appStore(for: notification.bundleId)
    let isFree = client.delay(for: .requestTestNotification, in: .production) == .zero
    let answer = try await client.requestTestNotification(in: .production)
    return try .emit(Called(answer: answer.value, wasFree: isFree))
  }

  struct Called: WorkerEvent {
    static let eventName = "called"
    var answer: String
    var wasFree: Bool
  }
}

/// Makes one call to Apple for each notification, as an effect.
struct OnceCaller: NotificationWorker {
  static let name = "once-caller"
  static let families: Set<NotificationFamily> = [.subscriptions]

  init(_ setup: WorkerSetup) {}

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let result = try await context.once(
      "call/\(notification.id)", body: [], calling: .requestTestNotification, in: .production,
      of: try context.appStore(for: notification.bundleId)
    ) { intent, client in
      _ = try await client.requestTestNotification(in: .production)
      return Array("\(intent.isRepeated)".utf8)
    }
    return try .emit(CalledOnce(wasBegunBefore: String(decoding: result, as: UTF8.self)))
  }

  struct CalledOnce: WorkerEvent {
    static let eventName = "called-once"
    var wasBegunBefore: String
  }
}

/// Publishes the values of its context. Sets a timer with its retry and writes a row with every outcome.
struct Teller: NotificationWorker {
  static let name = "teller"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static let outputTopics: Set<String> = ["table"]

  init(_ setup: WorkerSetup) {}

  static func deadline(of envelope: NotificationEnvelope, receivedAt: Timestamp) -> Timestamp? {
    envelope.notificationType == NotificationTypeV2.gracePeriodExpired.rawValue ? receivedAt + .seconds(100) : nil
  }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    if case .gracePeriodExpired = notification.event { return .retry(after: .seconds(3_600), because: "never") }
    let row = OutputRecord(topic: "table", key: notification.id, value: Array("\(context.attempt)".utf8))
    if context.attempt == 0 {
      return .retry(after: .seconds(60), because: "not-yet").writing(row)
        .settingTimer("soon", at: context.clock.wallTime + .seconds(30))
    }
    return try .emit(Told(context, notification)).writing(row)
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    try .emit(Fired(at: timer.at.millisecondsSince1970, now: context.clock.wallTime.millisecondsSince1970))
  }

  struct Told: WorkerEvent {
    static let eventName = "told"
    var now: Int64
    var secondsLeft: Double
    var attempt: Int
    var isReapplied: Bool

    init(_ context: HandlerContext, _ notification: AppStoreNotification) {
      now = context.clock.wallTime.millisecondsSince1970
      secondsLeft = (context.deadline - context.clock.wallTime) / .seconds(1)
      attempt = context.attempt
      isReapplied = context.isReapplied
    }
  }

  struct Fired: WorkerEvent {
    static let eventName = "fired"
    var at: Int64
    var now: Int64
  }
}

/// A failure of a sample that may be temporary.
struct HandlerFailed: Error {
  var description: String

  init(_ description: String) { self.description = description }
}
