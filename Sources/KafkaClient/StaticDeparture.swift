/// The departure of a static member from its group.
///
/// librdkafka sends LeaveGroup for a static member that unsubscribes, but not for one that closes
/// (`rd_kafka_cgrp_leave_maybe`). The client therefore unsubscribes, hands over its partitions, leaves the group, and
/// only then closes. No I/O, no clock.
struct StaticDeparture: Sendable {
  /// The time limit for leaving while no handover is open, for when no coordinator answers or the group is rebalancing.
  /// After the limit the client closes, and the group removes the member when its session ends.
  static let limit = Duration.seconds(5)

  private var openRevocations: Int
  private var deadline: ContinuousClock.Instant

  /// Creates the departure of a client that unsubscribes.
  /// - Parameter openRevocations: The number of revocations that are not completed.
  init(now: ContinuousClock.Instant, openRevocations: Int) {
    self.openRevocations = openRevocations
    deadline = now + Self.limit
  }

  /// Records a new revocation.
  mutating func revoked() { openRevocations += 1 }

  /// Records a completed revocation.
  mutating func handedOver(now: ContinuousClock.Instant) {
    openRevocations = max(0, openRevocations - 1)
    deadline = now + Self.limit
  }

  /// Returns whether the client may close now.
  /// - Parameter isMember: Whether the client has a member id, which librdkafka drops when it sends LeaveGroup.
  func isOver(isMember: Bool, now: ContinuousClock.Instant) -> Bool {
    // Closing during a handover would keep the membership.
    guard openRevocations == 0 else { return false }
    return !isMember || now >= deadline
  }
}
