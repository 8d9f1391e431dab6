// How customers and their banks behave when nobody tells them otherwise.

internal import AppStoreSigning

/// Shares from 0 to 1, decided anew for every renewal; 0 all over makes everything renew for ever.
public struct Behaviour: Sendable, Hashable {
  /// The part of the renewals that billing refuses.
  public var billingFails: Double
  /// The part of those that recover inside the retry period.
  public var recovers: Double
  /// The longest time a recovery takes.
  public var recoversWithin: Duration
  /// The part of the periods in which the customer switches renewal off.
  public var cancels: Double

  /// A behaviour; the defaults renew everything.
  public init(
    billingFails: Double = 0, recovers: Double = 0.7, recoversWithin: Duration = .seconds(10 * 86_400),
    cancels: Double = 0
  ) {
    self.billingFails = billingFails
    self.recovers = recovers
    self.recoversWithin = recoversWithin
    self.cancels = cancels
  }

  /// What happens in and after one period.
  struct Period: Sendable, Hashable {
    var billingFails: Bool
    /// How long after the failure billing works again; nil: never.
    var recovery: Duration?
    /// When in the period the customer switches renewal off, as a part of it; nil: never.
    var cancellation: Double?
    /// How long before the period's end the renewal is made, in thousandths of the longest lead.
    var lead: Int64
  }

  /// The same period of the same subscription goes the same way in every run, whatever else happens around it.
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

/// How much the world remembers. Of the notifications that still wait for a delivery as many again are kept.
public struct WorldLimits: Sendable, Hashable {
  /// Notifications of each app and environment, newest.
  public var notifications: Int
  /// Transactions of each customer, newest.
  public var transactionsPerCustomer: Int

  /// Limits; the defaults take about 100 MB for a busy app.
  public init(notifications: Int = 100_000, transactionsPerCustomer: Int = 200) {
    self.notifications = notifications
    self.transactionsPerCustomer = transactionsPerCustomer
  }
}
