// Scheduled events of the world.

internal import AppStore

/// A scheduled event.
enum WorldEvent: Sendable {
  /// The end of a period is near: the App Store bills the next one.
  case renewalDue(Int64, periodEnd: Timestamp)
  /// A period that was not renewed early has ended.
  case periodEnds(Int64, periodEnd: Timestamp)
  /// The customer turns auto-renewal off.
  case cancels(Int64, transaction: Int64)
  /// Billing succeeds after a failure.
  case recovers(Int64, periodEnd: Timestamp)
  /// The billing grace period ends.
  case graceEnds(Int64, at: Timestamp)
  /// The billing retry period ends.
  case retryEnds(Int64, at: Timestamp)
  /// An action of another component, which runs outside the world's lock.
  case action(@Sendable (World, Timestamp) -> Void)
}
