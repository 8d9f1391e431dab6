// Tracks whether writes to Kafka succeed. /readyz fails while they do not.

internal import MillraceCore
internal import Synchronization

/// The times of the last successful and the last failed write.
struct SendHistory: Sendable, Hashable {
  /// How long an outcome counts. It is longer than a request, so that a failure is visible at the next probe.
  static let window = Duration.seconds(15)

  private var lastSuccess: ContinuousClock.Instant?
  private var lastFailure: ContinuousClock.Instant?

  mutating func succeeded(at now: ContinuousClock.Instant) { lastSuccess = now }
  mutating func failed(at now: ContinuousClock.Instant) { lastFailure = now }

  /// Whether writes failed and none succeeded in the last window. An ingress without traffic is healthy.
  func isFailing(at now: ContinuousClock.Instant) -> Bool {
    func isRecent(_ time: ContinuousClock.Instant?) -> Bool {
      time.map { $0.duration(to: now) <= Self.window } ?? false
    }
    return isRecent(lastFailure) && !isRecent(lastSuccess)
  }
}

/// The write history, shared by all requests.
final class SendHealth: Sendable {
  private let history = Mutex(SendHistory())

  func succeeded() { history.withLock { $0.succeeded(at: .now) } }
  func failed() { history.withLock { $0.failed(at: .now) } }

  /// A check that fails while writes fail. It recovers with the first successful write, or when no write was attempted
  /// for a window.
  var check: ReadinessCheck {
    let remedy = "look for partitions below min.insync.replicas and for unreachable brokers"
    return ReadinessCheck("sends", remedy: remedy) {
      guard self.history.withLock({ $0.isFailing(at: .now) }) else {
        return .healthy("Kafka acknowledges notifications")
      }
      return .unhealthy(
        "Kafka acknowledged no notification in the last \(SendHistory.window.components.seconds) s; the ingress responds 503",
        remedy: remedy)
    }
  }
}
