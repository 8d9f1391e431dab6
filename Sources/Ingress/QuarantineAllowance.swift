// Limits the copies of refused bodies per minute, because anyone who can reach the endpoint can send bodies with their
// own certificate chain. A value: time is a parameter.

/// A token bucket that holds one minute's copies and refills evenly.
struct QuarantineAllowance: Sendable, Hashable {
  /// The bytes that one copy accounts for; larger bodies count as several copies. Apple's bodies have up to 19 kB.
  static let bytesPerCopy = 32 << 10

  private let perMinute: Int
  private var available: Double
  private var filledAt: Duration

  init(perMinute: Int, at now: Duration) {
    self.perMinute = max(0, perMinute)
    available = Double(max(0, perMinute))
    filledAt = now
  }

  /// Spends the allowance for a body of `size` bytes; returns false if too little is left. `now` must not decrease.
  mutating func spend(size: Int = 0, at now: Duration) -> Bool {
    let elapsed = max(.zero, now - filledAt)
    filledAt = max(filledAt, now)
    available = min(Double(perMinute), available + elapsed / .seconds(60) * Double(perMinute))
    // A body larger than the bucket takes a full bucket, so it is kept at most once a minute.
    let copies = Double(max(1, min(perMinute, (size + Self.bytesPerCopy - 1) / Self.bytesPerCopy)))
    guard available >= copies else { return false }
    available -= copies
    return true
  }
}
