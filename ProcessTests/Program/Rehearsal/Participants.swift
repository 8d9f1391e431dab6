// Chooses which subscriptions cannot be extended, and makes them ineligible between Apple's selection and its
// extension.

import AppStore
import AppStoreSigning
import AppStoreSimulator

struct Participants: Sendable {
  /// The reason for an ineligible subscription, as in events.
  enum Reason: String, Sendable, CaseIterable {
    case ineligible
    case maxExtensions = "max-extensions"
    case familyShared = "family-shared"
    case notFound = "not-found"
  }

  private(set) var eligible: Set<Int64> = []
  private(set) var ineligible: [Int64: Reason] = [:]

  /// Chooses among the subscribers of the plan.
  init(_ simulator: Simulator, size: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed &+ 11)
    let all = simulator.world.withState { state in
      state.subscriptions.values.filter { subscription in
        state.transactions[subscription.transactionId].map { state.product(of: $0).productId }
          == RehearsalSettings.monthly
      }
    }
    for subscription in all where subscription.ownership == .familyShared {
      ineligible[subscription.originalTransactionId] = .familyShared
    }
    var rest = all.filter { $0.ownership != .familyShared }.map(\.originalTransactionId).sorted()
    rest.shuffle(using: &random)
    let share = max(2, size / 50)
    for (reason, count) in [(Reason.ineligible, share), (.maxExtensions, share), (.notFound, max(1, share / 2))] {
      for id in rest.prefix(count) { ineligible[id] = reason }
      rest.removeFirst(min(rest.count, count))
    }
    eligible = Set(rest)
    // Subscriptions that Apple will not know are excluded from its mass extension.
    simulator.world.withState { state in
      for (id, reason) in ineligible where reason == .notFound { state.lapse(id, to: .expired) }
    }
  }

  /// Applies the reasons after Apple's selection: some selected subscriptions lose eligibility, others fail without it.
  mutating func apply(to simulator: Simulator, at now: Timestamp, since began: Timestamp) throws {
    let late = try simulator.world.withState { state in
      var late: [Int64] = []
      for (number, (id, reason)) in ineligible.sorted(by: { $0.key < $1.key }).enumerated() {
        switch reason {
        // On a busy machine Apple may already have extended them.
        case .ineligible, .maxExtensions:
          if state.subscriptions[id]?.extensions.contains(where: { $0 >= began }) == true {
            late.append(id)
          } else if reason == .ineligible {
            state.lapse(id, to: number.isMultiple(of: 2) ? .expired : .billingRetry)
          } else {
            state.useUpExtensions(id, at: now)
          }
        case .familyShared: try state.failExtension(id, at: now)
        case .notFound:
          try state.failExtension(id, at: now)
          state.forget(id)
        }
      }
      return late
    }
    for id in late {
      ineligible[id] = nil
      eligible.insert(id)
    }
  }
}
