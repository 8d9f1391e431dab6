import AppStore
import AppStoreSigning
import Testing

@testable import Refunds

@Suite(.timeLimit(.minutes(15))) struct EntitlementStateTests {
  private static func at(_ second: Int64) -> Timestamp {
    Timestamp(millisecondsSince1970: 1_767_225_600_000 + second * 1_000)
  }

  private static func fact(
    _ id: String, _ kind: EntitlementFact.Kind, signed: Int64, revoked: Int64? = nil, _ type: Revocation.Kind = .full
  ) -> EntitlementFact {
    EntitlementFact(
      id: id, kind: kind, signedDate: at(signed), revocation: revoked.map { Revocation(kind: type, date: at($0)) })
  }

  private static let refund = fact("r", .refund, signed: 10, revoked: 9)
  private static let reversal = fact("b", .reversed, signed: 20)
  private static let declined = fact("d", .declined, signed: 5)
  private static let again = fact("s", .refund, signed: 30, revoked: 29)
  private static let answer = fact("v", .confirmed, signed: 40, revoked: 9)
  private static let revoked = EntitlementChange.revoked(Revocation(kind: .full, date: at(9)))

  @Test(
    arguments: [
      ([refund], [revoked]),
      ([declined, refund], [.none, revoked]),
      // A declined request that arrives late changes nothing.
      ([refund, declined], [revoked, .none]),
      ([refund, refund], [revoked, revoked]),
      ([refund, reversal], [revoked, .reinstated]),
      // The refund arrives after its reversal, so nothing is revoked.
      ([reversal, refund], [.reinstated, .none]),
      // One refund, from a notification and from a response, in either order.
      ([refund, answer], [revoked, .none]),
      ([answer, refund], [revoked, .none]),
      // A response that is older than the reversal.
      ([refund, reversal, fact("v", .confirmed, signed: 15, revoked: 9)], [revoked, .reinstated, .none]),
      // A response says that the purchase is not refunded. It may be outdated, so the state waits for the reversal
      // itself.
      ([refund, fact("v", .unfounded, signed: 25), reversal], [revoked, .none, .reinstated]),
      ([fact("v", .unfounded, signed: 25), refund], [.none, revoked]),
      ([refund, reversal, again], [revoked, .reinstated, .revoked(Revocation(kind: .full, date: at(29)))]),
      // A later declined request. Its transaction says that the earlier refund is in effect.
      ([refund, fact("e", .declined, signed: 15, revoked: 9)], [revoked, .none]),
      // A prorated refund becomes a full one.
      (
        [fact("p", .refund, signed: 10, revoked: 9, .prorated), fact("f", .refund, signed: 12, revoked: 9)],
        [.revoked(Revocation(kind: .prorated, date: at(9))), revoked]
      ),
      ([fact("v", .unfounded, signed: 25)], [.none]),
    ] as [([EntitlementFact], [EntitlementChange])])
  func `newest signed wins, and a change is published once`(facts: [EntitlementFact], changes: [EntitlementChange]) {
    var state = EntitlementState()
    #expect(facts.map { state.apply($0) } == changes)
    #expect(state.current == facts.filter { $0.kind != .unfounded }.max { $0.isOlder(than: $1) })
  }

  @Test func `a notification that is handled again returns the same change`() {
    var state = EntitlementState()
    let facts = [Self.refund, Self.reversal, Self.again, Self.declined]
    let changes = facts.map { state.apply($0) }
    let before = state
    #expect(facts.map { state.apply($0) } == changes)
    #expect(state == before)
  }

  @Test func `a fact with a new interpretation replaces the old one`() {
    var state = EntitlementState()
    _ = state.apply(Self.refund)
    _ = state.apply(Self.reversal)
    let mended = Self.fact("r", .refund, signed: 10, revoked: 9, .prorated)
    #expect(state.apply(mended) == .revoked(Revocation(kind: .prorated, date: Self.at(9))))
    #expect(state.facts == [mended, Self.reversal])
    #expect(state.current == Self.reversal)
  }

  @Test func `the size of a state is limited, and the deciding fact is never dropped`() {
    var state = EntitlementState()
    _ = state.apply(Self.fact("newest", .refund, signed: 1_000, revoked: 999))
    for number in 0..<200 { _ = state.apply(Self.fact("d\(number)", .declined, signed: Int64(number))) }
    #expect(state.facts.count == EntitlementState.mostFacts)
    #expect(state.current?.id == "newest")
  }

  /// The facts of one transaction, from notifications and responses, in any order and with duplicates.
  @Test(arguments: 0..<400 as Range<UInt64>)
  func `any order with any duplicates ends in the actual state`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var facts: [EntitlementFact] = []
    var revocation: Revocation?
    for step in 1...Int64.random(in: 1...8, using: &random) {
      // Some facts share a millisecond.
      let now = step * 10 + Int64.random(in: 0...1, using: &random)
      switch (revocation, Int.random(in: 0..<4, using: &random)) {
      case (nil, 0...1):
        let kind = Revocation.Kind.allCases.randomElement(using: &random) ?? .full
        revocation = Revocation(kind: kind, date: Self.at(now))
        facts.append(Self.fact("n\(step)", kind == .family ? .revoke : .refund, signed: now, revoked: now, kind))
      case (.some, 0...1):
        revocation = nil
        facts.append(Self.fact("n\(step)", .reversed, signed: now))
      case (let revocation, 2):
        facts.append(
          EntitlementFact(id: "n\(step)", kind: .declined, signedDate: Self.at(now), revocation: revocation))
      case (let revocation, _):
        facts.append(
          EntitlementFact(
            id: "n\(step)", kind: revocation == nil ? .unfounded : .found, signedDate: Self.at(now),
            revocation: revocation))
      }
    }
    for _ in 0..<4 {
      var told = facts + facts.filter { _ in Bool.random(using: &random) }
      told.shuffle(using: &random)
      var state = EntitlementState()
      var known: Set<String> = []
      var last: EntitlementChange?
      for fact in told {
        let change = state.apply(fact)
        // The ledger lets a notification through once, and a change that is handled again is also published once.
        if known.insert(fact.id).inserted, change != .none { last = change }
        #expect(state == (try? EntitlementState(kept: state.kept)), "seed \(seed)")
      }
      #expect(state.current?.revocation == revocation, "seed \(seed)")
      // A consumer of the events alone ends in the same state as the table.
      switch last {
      case .revoked(let told): #expect(told == revocation, "seed \(seed)")
      case .reinstated: #expect(revocation == nil, "seed \(seed)")
      case .some(.none), nil: #expect(revocation == nil, "seed \(seed)")
      }
    }
  }

  @Test(arguments: ["{}", "[]", "", "{\"facts\":[{}]}", "{\"facts\":[{\"id\":\"a\",\"kind\":\"new\",\"signed\":1}]}"])
  func `an unreadable state of a later version is not treated as empty`(text: String) {
    #expect(throws: (any Error).self) { try EntitlementState(kept: Array(text.utf8)) }
  }

  @Test func `a stored state is read back, and unknown members are ignored`() throws {
    var state = EntitlementState()
    _ = state.apply(Self.fact("a", .confirmed, signed: 1, revoked: 1, .prorated))
    #expect(
      String(decoding: state.kept, as: UTF8.self)
        == #"{"facts":[{"id":"a","kind":"confirmed","signed":1767225601000,"revoked":{"type":"prorated","date":1767225601000}}]}"#
    )
    let later = #"{"v":2,"facts":[{"id":"a","kind":"refund","signed":1,"more":true}]}"#
    #expect(try EntitlementState(kept: Array(later.utf8)).facts.map(\.id) == ["a"])
    #expect(try EntitlementState(kept: nil) == EntitlementState())
  }
}
