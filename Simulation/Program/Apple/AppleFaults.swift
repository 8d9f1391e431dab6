// The faults on the way to Apple's API, as shares of the calls.

struct AppleFaults: Sendable, CustomStringConvertible {
  /// There is no connection, so nothing was sent.
  var refused = 0.0
  /// Apple answers 500; some of these calls took effect.
  var errors = 0.0
  /// Apple answers 429 with `Retry-After`, and did nothing.
  var limited = 0.0
  /// The connection breaks, and the request never arrives.
  var lostRequests = 0.0
  /// The connection breaks, and the request arrives, perhaps seconds later.
  var lostAnswers = 0.0
  /// There is no answer and no end of the connection.
  var silent = 0.0

  static let none = AppleFaults()

  var description: String {
    let shares = [
      ("no connection", refused), ("500", errors), ("429", limited), ("lost requests", lostRequests),
      ("lost answers", lostAnswers), ("silence", silent),
    ]
    return shares.filter { $0.1 > 0 }.map { "\(Int($0.1 * 100)) % \($0.0)" }.joined(separator: ", ")
  }

  /// The result of one call.
  enum Fate: Sendable {
    case answered, refused, limited, lostRequest, lostAnswer
    case error(takesEffect: Bool)
    case silence(takesEffect: Bool)
  }

  func fate() -> Fate {
    var (drawn, isDecided) = (Double(SeedGenerator.number(0...999_999)) / 1_000_000, false)
    func falls(_ share: Double) -> Bool {
      guard !isDecided else { return false }
      isDecided = drawn < share
      drawn -= share
      return isDecided
    }
    if falls(refused) { return .refused }
    if falls(errors) { return .error(takesEffect: SeedGenerator.chance(0.3)) }
    if falls(limited) { return .limited }
    if falls(lostRequests) { return .lostRequest }
    if falls(lostAnswers) { return .lostAnswer }
    return falls(silent) ? .silence(takesEffect: SeedGenerator.chance(0.5)) : .answered
  }
}
