// What is known of one transaction, and what one more thing that Apple says changes about it. Newest `signedDate` wins:
// notifications arrive late, twice and in any order, and the end is the same.

internal import AppStore

/// One thing that Apple said about a transaction, at a time of its own.
struct EntitlementFact: Sendable, Hashable {
  /// How it was told.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// REFUND.
    case refund
    /// REVOKE.
    case revoke
    /// REFUND_DECLINED.
    case declined
    /// REFUND_REVERSED.
    case reversed
    /// *Get Transaction Info*, asked because of a version 1 notification.
    case confirmed
    /// The same, and the answer does not confirm it: an upgrade. It counts for nothing: an answer may be behind what Apple
    /// is about to notify.
    case unfounded
    /// *Get Refund History*, asked by `millrace refunds check`.
    case found

    /// Which of two facts of one moment counts: an answer before a notification, a later step before an earlier one.
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

  /// Of the notification that told it; one id says one thing.
  var id: String
  /// How it was told.
  var kind: Kind
  /// When Apple signed it.
  var signedDate: Timestamp
  /// What was taken back; nil where the transaction stood.
  var revocation: Revocation?
  /// What the answer said, where Apple was asked because of a version 1 notification: so that Apple need not be asked twice.
  var answer: JSONObject?

  /// Whether it counts for less than `other`. Two facts of different ids are never equal.
  func isOlder(than other: EntitlementFact) -> Bool {
    (signedDate, kind.rank, id) < (other.signedDate, other.kind.rank, other.id)
  }
}

/// What a fact changed.
enum EntitlementChange: Sendable, Hashable {
  /// Nothing that was not known.
  case none
  /// The transaction is revoked, or revoked otherwise than it was.
  case revoked(Revocation)
  /// It stands again.
  case reinstated
}

/// What is known of one transaction.
struct EntitlementState: Sendable, Hashable {
  /// Facts in the order in which they arrived. The order matters for what was published when, not for what is so.
  private(set) var facts: [EntitlementFact] = []

  /// More than any transaction has been seen to have; what is beyond goes, oldest signed first.
  static let mostFacts = 32

  /// Nothing is known.
  init() {}

  /// Facts read back.
  init(facts: [EntitlementFact]) { self.facts = facts }

  /// What is so: the fact that was signed last.
  var current: EntitlementFact? { Self.newest(of: facts) }

  /// What a notification told when it was handled.
  func fact(_ id: String) -> EntitlementFact? { facts.first { $0.id == id } }

  /// Whether a refund of this moment has been told, in whatever way.
  func knows(revocationAt date: Timestamp) -> Bool { facts.contains { $0.revocation?.date == date } }

  /// Whether a refund of this moment has been taken back, though nothing told the refund itself.
  func isReversed(since date: Timestamp) -> Bool { facts.contains { $0.kind == .reversed && $0.signedDate >= date } }

  /// Takes a fact in.
  ///
  /// A fact of an id that is known takes the place of that one, and the answer is judged by what was known then: a
  /// notification that is handled again leads to what it led to, unless the fact has changed.
  mutating func take(_ fact: EntitlementFact) -> EntitlementChange {
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
      // Its refund may have been handled by whoever was here before us.
      return fact.revocation.map { .revoked($0) } ?? (fact.kind == .reversed ? .reinstated : .none)
    }
    guard before.isOlder(than: fact), before.revocation != fact.revocation else { return .none }
    return fact.revocation.map { .revoked($0) } ?? .reinstated
  }
}
