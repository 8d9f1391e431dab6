// What is going to happen by itself.

internal import AppStore

/// Something that happens by itself.
enum WorldEvent: Sendable {
  /// The end of a period comes near: the App Store bills the next one.
  case renewalDue(Int64, periodEnd: Timestamp)
  /// A period that was not renewed ahead is over.
  case periodEnds(Int64, periodEnd: Timestamp)
  /// The customer switches renewal off.
  case cancels(Int64, transaction: Int64)
  /// Billing works again.
  case recovers(Int64, periodEnd: Timestamp)
  /// The billing grace period is over.
  case graceEnds(Int64, at: Timestamp)
  /// The billing retry period is over.
  case retryEnds(Int64, at: Timestamp)
  /// Whatever somebody else wanted to do at that moment, outside of the world's lock.
  case action(@Sendable (World, Timestamp) -> Void)
}
