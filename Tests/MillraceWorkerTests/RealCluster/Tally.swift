// The worker of these tests. Its events name the notification and the process.

import AppStore
import KafkaClient
import MillraceTime
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
import Synchronization

struct Tally: NotificationWorker {
  static let name = "tally"
  static let families: Set<NotificationFamily> = [.subscriptions]
  static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.retryDelays = [.milliseconds(300), .seconds(2)]
    return policy
  }

  /// Notifications whose handler no longer fails.
  static let mended = Mutex<Set<String>>([])
  /// The request bodies of each notification's effect, from all processes.
  static let caused = Mutex<[String: Set<[UInt8]>]>([:])

  let process: String

  init(_ setup: WorkerSetup) {
    var generator = SystemRandomNumberGenerator()
    process = String(generator.next(), radix: 36)
  }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    if case .didRenew = notification.event {
      // The body differs in each run. The first one that was written must be used.
      var generator = SystemRandomNumberGenerator()
      let body = Array(String(generator.next(), radix: 36).utf8)
      _ = try await context.once("count/\(notification.id)", body: body) { intent in
        _ = Self.caused.withLock { $0[notification.id, default: []].insert(intent.body) }
        return []
      }
    }
    switch notification.event {
    case .didFailToRenew where context.attempt == 0: throw HandlerFailed("first try")
    case .gracePeriodExpired where !Self.mended.withLock({ $0.contains(notification.id) }):
      throw HandlerError("no-use", "cannot be handled yet")
    case .offerRedeemed: return .ignore.settingTimer("fails/\(notification.id)", at: context.clock.wallTime)
    default: return try .emit(Counted(process: process, attempt: context.attempt))
    }
  }

  func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    throw HandlerFailed("attempt \(context.attempt)")
  }

  struct Counted: WorkerEvent {
    static let eventName = "counted"
    var process: String
    var attempt: Int
  }
}

/// An event of ``Tally``, read from Kafka.
struct CountedEvent: Sendable {
  var id: String
  var notification: String
  var process: String
  var attempt: Int
  var record: ConsumerRecord

  init?(_ record: ConsumerRecord) {
    guard let value = record.value, case .object(let data)? = try? JSON(parsing: value),
      case .string(let process)? = data["process"], case .integer(let attempt)? = data["attempt"],
      let id = record.text("ce_id"), let notification = record.text("ce_notificationid")
    else { return nil }
    (self.id, self.notification, self.process, self.attempt) = (id, notification, process, Int(attempt))
    self.record = record
  }
}
