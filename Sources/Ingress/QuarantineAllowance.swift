// How many refused bodies a minute are worth keeping. Whoever can reach the endpoint can make a chain of their own, so
// copies are counted before they are made. A value: time comes in as an argument.

internal import Millrace

/// A bucket that holds a minute's worth of copies and fills evenly.
struct QuarantineAllowance: Sendable, Hashable {
  private let perMinute: Int
  private var available: Double
  private var filledAt: Duration

  init(perMinute: Int, at now: Duration) {
    self.perMinute = max(0, perMinute)
    available = Double(max(0, perMinute))
    filledAt = now
  }

  /// True where one more copy may be made at `now`, which never goes back.
  mutating func take(at now: Duration) -> Bool {
    let elapsed = max(.zero, now - filledAt)
    filledAt = max(filledAt, now)
    available = min(Double(perMinute), available + elapsed / .seconds(60) * Double(perMinute))
    guard available >= 1 else { return false }
    available -= 1
    return true
  }
}

/// Two buckets: bodies whose outside is genuine are kept apart from those that anybody can make, so that nobody can use
/// up the room for what may be the only copy of Apple's words.
struct QuarantineAllowances: Sendable, Hashable {
  private var genuine: QuarantineAllowance
  private var unproven: QuarantineAllowance

  init(perMinute: Int, at now: Duration) {
    genuine = QuarantineAllowance(perMinute: perMinute, at: now)
    unproven = genuine
  }

  /// True where one more body refused for `reason` may be copied at `now`.
  mutating func take(for reason: Refusal.Reason, at now: Duration) -> Bool {
    reason.provesOutside ? genuine.take(at: now) : unproven.take(at: now)
  }
}

extension Refusal.Reason {
  /// True where only Apple, or who knows a shared secret, can have made the outside of the body.
  var provesOutside: Bool {
    switch self {
    case .appNotConfigured, .environmentNotConfigured, .innerMismatch, .innerForged, .innerChain: true
    case .malformed, .algorithm, .signature, .chain, .revoked, .revocationUnknown, .wrongSecret: false
    }
  }
}
