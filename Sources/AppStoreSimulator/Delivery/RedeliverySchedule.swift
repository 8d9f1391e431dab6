// Apple's retry schedule (Responding to App Store Server Notifications).

package import AppStore

/// The waits between attempts, each counted from the previous attempt.
package struct RedeliverySchedule: Sendable, Hashable {
  /// The wait before the second attempt, before the third, and so on.
  package let waits: [Duration]

  /// A custom schedule.
  package init(waits: [Duration]) { self.waits = waits }

  /// Apple's schedule: version 2 after 1, 12, 24, 48 and 72 hours, version 1 after 6, 24 and 48 hours, in the sandbox
  /// never.
  package init(_ version: NotificationVersion, in environment: AppStoreEnvironment) {
    guard environment == .production else {
      self.init(waits: [])
      return
    }
    let hours: [Int64] =
      switch version {
      case .v1: [6, 24, 48]
      case .v2: [1, 12, 24, 48, 72]
      }
    self.init(waits: hours.map { .seconds($0 * 3_600) })
  }

  /// Returns the wait after `count` failed attempts; nil if Apple gives up.
  package func wait(afterAttempts count: Int) -> Duration? {
    waits.indices.contains(count - 1) ? waits[count - 1] : nil
  }
}
