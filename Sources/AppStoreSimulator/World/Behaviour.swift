// The default behaviour of customers and their banks.

internal import AppStoreSigning

/// Shares from 0 to 1. Each renewal is decided on its own. If all shares are 0, every subscription renews forever.
package struct Behaviour: Sendable, Hashable {
  /// The share of renewals for which billing fails.
  package var billingFails: Double
  /// The share of failed renewals that recover within the retry period.
  package var recovers: Double
  /// The longest time until a recovery.
  package var recoversWithin: Duration
  /// The share of periods in which the customer turns auto-renewal off.
  package var cancels: Double

  /// A behaviour. By default, every renewal succeeds.
  package init(
    billingFails: Double = 0, recovers: Double = 0.7, recoversWithin: Duration = .seconds(10 * 86_400),
    cancels: Double = 0
  ) {
    self.billingFails = billingFails
    self.recovers = recovers
    self.recoversWithin = recoversWithin
    self.cancels = cancels
  }

  /// The events during and after one period.
  struct Period: Sendable, Hashable {
    var billingFails: Bool
    /// The time from the failure until billing succeeds; nil for never.
    var recovery: Duration?
    /// The point in the period at which the customer turns auto-renewal off, from 0 to 1; nil for never.
    var cancellation: Double?
    /// The time between the renewal and the end of the period, in thousandths of the longest lead.
    var lead: Int64
  }

  /// Returns the events of a period. They depend only on the seed, the subscription and the transaction, so they are
  /// the same in every run.
  func period(seed: UInt64, subscription: Int64, transaction: Int64) -> Period {
    let subject = UInt64(bitPattern: subscription &* 31 &+ transaction)
    var generator = SeededGenerator(seed: seed ^ subject &* 0x9E37_79B9_7F4A_7C15)
    let draws = (0..<5).map { _ in Double.random(in: 0..<1, using: &generator) }
    return Period(
      billingFails: draws[0] < billingFails,
      recovery: draws[1] < recovers ? recoversWithin * draws[2] : nil,
      cancellation: draws[3] < cancels ? draws[3] / max(cancels, .leastNonzeroMagnitude) : nil,
      lead: Int64(draws[4] * 1_000))
  }
}

/// The number of notifications and transactions that the world keeps. It keeps up to the same number again of
/// notifications that are waiting for delivery.
package struct WorldLimits: Sendable, Hashable {
  /// The number of newest notifications to keep for each app and environment.
  package var notifications: Int
  /// The number of newest transactions to keep for each customer.
  package var transactionsPerCustomer: Int

  /// Limits. The defaults use about 100 MB for a busy app.
  package init(notifications: Int = 100_000, transactionsPerCustomer: Int = 200) {
    self.notifications = notifications
    self.transactionsPerCustomer = transactionsPerCustomer
  }
}
