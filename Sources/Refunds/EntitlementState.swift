// The refund state of one transaction, and the effect of each new fact from Apple. The newest `signedDate` wins, so
// that late, repeated and reordered notifications lead to the same state.

internal import AppStore

/// One statement by Apple about a transaction, with its own signature time.
struct EntitlementFact: Sendable, Hashable {
  /// The source of a fact.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// REFUND.
    case refund
    /// REVOKE.
    case revoke
    /// REFUND_DECLINED.
    case declined
    /// REFUND_REVERSED.
    case reversed
    /// *Get Transaction Info*, called because of a version 1 notification.
    case confirmed
    /// The same call, whose response shows an upgrade instead of a refund. Such a fact does not affect the state,
    /// because the response may be older than Apple's next notification.
    case unfounded
    /// *Get Refund History*, called by `millrace refunds check`.
    case found

    /// The precedence among facts with the same time: responses over notifications, later steps over earlier ones.
    fileprivate var rank: Int {
      switch self {
      case .declined: 0
      case .refund, .revoke: 1
      case .reversed: 2
      case .found: 3
      case .confirmed, .unfounded: 4
      }
    }
  }

  /// The id of the notification that reported the fact. Each id has one fact.
  var id: String
  /// The source of the fact.
  var kind: Kind
  /// When Apple signed it.
  var signedDate: Timestamp
  /// The revocation; nil if the transaction was valid.
  var revocation: Revocation?
  /// Apple's response for a version 1 notification, stored so that a repetition needs no further call.
  var answer: JSONObject?

  /// Whether `other` takes precedence. Facts with different ids are never equal.
  func isOlder(than other: EntitlementFact) -> Bool {
    (signedDate, kind.rank, id) < (other.signedDate, other.kind.rank, other.id)
  }
}

/// The effect of a fact on the state.
enum EntitlementChange: Sendable, Hashable {
  /// The state did not change.
  case none
  /// The transaction is revoked, or its revocation changed.
  case revoked(Revocation)
  /// The transaction is valid again.
  case reinstated
}

/// The known facts about one transaction.
struct EntitlementState: Sendable, Hashable {
  /// The facts in order of arrival. The order determines which events were published when, but not the present state.
  private(set) var facts: [EntitlementFact] = []

  /// The largest number of facts, more than any known transaction has. Beyond it, the fact with the oldest signature is
  /// dropped.
  static let mostFacts = 32

  init() {}

  init(facts: [EntitlementFact]) { self.facts = facts }

  /// The present state: the fact that was signed last.
  var current: EntitlementFact? { Self.newest(of: facts) }

  /// Returns the fact of a notification.
  func fact(_ id: String) -> EntitlementFact? { facts.first { $0.id == id } }

  /// Whether a refund with this date is known from any source.
  func knows(revocationAt date: Timestamp) -> Bool { facts.contains { $0.revocation?.date == date } }

  /// Whether a refund with this date was reversed, even if the refund itself was never reported.
  func isReversed(since date: Timestamp) -> Bool { facts.contains { $0.kind == .reversed && $0.signedDate >= date } }

  /// Adds a fact and returns its effect.
  ///
  /// A fact replaces an earlier one with the same id, and its effect is computed from the facts before it. A
  /// notification that is handled again therefore has the same effect, unless the fact has changed.
  mutating func apply(_ fact: EntitlementFact) -> EntitlementChange {
    let place = facts.firstIndex { $0.id == fact.id } ?? facts.endIndex
    let change = Self.change(from: Self.newest(of: facts[..<place]), by: fact)
    if place == facts.endIndex { facts.append(fact) } else { facts[place] = fact }
    if facts.count > Self.mostFacts, let oldest = facts.indices.min(by: { facts[$0].isOlder(than: facts[$1]) }) {
      facts.remove(at: oldest)
    }
    return change
  }

  private static func newest(of facts: some Sequence<EntitlementFact>) -> EntitlementFact? {
    facts.filter { $0.kind != .unfounded }.max { $0.isOlder(than: $1) }
  }

  private static func change(from before: EntitlementFact?, by fact: EntitlementFact) -> EntitlementChange {
    guard fact.kind != .unfounded else { return .none }
    guard let before else {
      // A previous system may have handled the refund.
      return fact.revocation.map { .revoked($0) } ?? (fact.kind == .reversed ? .reinstated : .none)
    }
    guard before.isOlder(than: fact), before.revocation != fact.revocation else { return .none }
    return fact.revocation.map { .revoked($0) } ?? .reinstated
  }
}
