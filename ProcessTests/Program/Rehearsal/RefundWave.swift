// Refunds, reversals, revocations and declined requests for many purchases, sent in both notification versions.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import MillraceTime
import ScenarioRig

struct RefundWave: Sendable {
  private let environment: RehearsalEnvironment
  private let purchases: [Int64]
  private var random: SeededGenerator
  /// The first notification without a version 1 counterpart.
  private var sequence: Int64 = 0
  /// The number of version 1 bodies posted.
  private(set) var twins = 0

  init(_ environment: RehearsalEnvironment) {
    self.environment = environment
    random = SeededGenerator(seed: environment.deployment.rig.seed &+ 12)
    purchases = environment.simulator.world.withState { state in
      state.transactions.values.filter { state.product(of: $0).productId != RehearsalSettings.monthly }.map(\.id)
        .sorted()
    }
  }

  /// Causes events, and posts version 1 counterparts for a third of them, some twice.
  mutating func roll(_ count: Int) async throws {
    let now = environment.clock.wallTime
    for step in 0..<count {
      guard let id = purchases.randomElement(using: &random) else { return }
      let dice = Int.random(in: 0..<10, using: &random)
      let percentage = Int64.random(in: 1...99_999, using: &random)
      try environment.simulator.world.withState { state throws(WorldError) in
        try state.throwDice(dice, of: id, percentage: percentage, at: now + .milliseconds(step))
      }
    }
    try await postTwins()
  }

  private mutating func postTwins() async throws {
    let first = sequence
    let (bodies, next) = environment.simulator.world.withState { state in
      let log = state.realms[0].log
      let news = log.records.filter { $0.facts.sequence >= first && Self.types.contains($0.facts.kind.type) }
      return (news.flatMap { state.bodiesV1(of: $0).prefix(1) }, log.nextSequence)
    }
    sequence = next
    for body in bodies where Int.random(in: 0..<3, using: &random) == 0 {
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let status = try await Web.post(body, to: environment.ingress + "/v1")
        guard status == 200 else { throw RunError("the ingress answered \(status) to version 1") }
        twins += 1
      }
    }
  }

  static let types: Set<NotificationTypeV2> = [.refund, .refundReversed, .refundDeclined, .revoke]

  /// The simulator's revocation of every transaction with a notification; nil: not revoked.
  static func truth(_ simulator: Simulator) -> [String: JSONObject?] {
    simulator.world.withState { state in
      var truth: [String: JSONObject?] = [:]
      for record in state.realms[0].log.records where types.contains(record.facts.kind.type) {
        guard case .purchase(let purchase, _, _) = record.facts.content else { continue }
        let revocation = state.transactions[purchase.id]?.revocation
        truth.updateValue(
          revocation.map { revocation in
            var json: JSONObject = [
              "type": .string(name(of: revocation.type)), "date": .string(revocation.date.rfc3339),
              "reason": .integer(Int64(revocation.reason.rawValue)),
            ]
            json["percentage"] = revocation.percentage.map { .integer($0) }
            return json
          }, forKey: "\(purchase.id)")
      }
      return truth
    }
  }

  private static func name(of type: RevocationType) -> String {
    switch type {
    case .refundProrated: "prorated"
    case .familyRevoke: "family"
    default: "full"
    }
  }
}
