// Processes refund requests, from the customer's request to Apple's decision.

internal import AppStore
internal import AppStoreSigning
internal import Synchronization

/// Requests consumption information, waits for it and decides.
final class RefundService: Sendable {
  private struct Case {
    var asked: Timestamp
    var answer: ConsumptionInformation?
    var isDecided = false
    /// Distinguishes the case from a later request for the same transaction.
    var number: Int
  }

  private struct State {
    var cases = BoundedMemory<Int64, Case>(capacity: 100_000)
    var nextNumber = 0
  }

  private let world: World
  private let policy: RefundPolicy
  private let seed: UInt64
  private let state = Mutex(State())

  init(_ world: World, _ policy: RefundPolicy, seed: UInt64) {
    self.world = world
    self.policy = policy
    self.seed = seed
  }

  /// Requests a refund: CONSUMPTION_REQUEST. If the team does not respond in time, Apple decides alone.
  func customerAsks(
    _ transactionId: Int64, reason: ConsumptionRequestReason, at now: Timestamp
  ) throws(WorldError) {
    try world.withState { state throws(WorldError) in
      _ = try state.requestRefund(transactionId, reason: reason, at: now)
    }
    let number = open(transactionId, asked: now)
    decide(transactionId, number, at: now + policy.answerDeadline, unlessAnswered: true)
  }

  /// Accepts the team's consumption information.
  ///
  /// - Returns: the rule that the caller broke; nil if the information was requested and in time. Otherwise it has no
  ///   effect.
  func take(_ answer: ConsumptionInformation, for transactionId: Int64, at now: Timestamp) -> CallerRule? {
    // Refund requests that were made in the world directly count as well.
    let asked = world.withState { $0.refundRequests[transactionId]?.asked }
    if let asked, state.withLock({ $0.cases[transactionId].map { $0.isDecided } ?? true }) {
      _ = open(transactionId, asked: asked)
    }
    let (rule, number) = state.withLock { state -> (CallerRule?, Int?) in
      guard var open = state.cases[transactionId] else { return (.consumptionNotRequested, nil) }
      if open.answer != nil { return (.consumptionRepeated, nil) }
      if open.isDecided || now - open.asked > policy.answerDeadline { return (.consumptionLate, nil) }
      open.answer = answer
      state.cases[transactionId] = open
      return (nil, open.number)
    }
    if let number { decide(transactionId, number, at: now + policy.decisionDelay, unlessAnswered: false) }
    return rule
  }

  private func open(_ transactionId: Int64, asked: Timestamp) -> Int {
    state.withLock { state in
      state.nextNumber += 1
      state.cases[transactionId] = Case(asked: asked, number: state.nextNumber)
      return state.nextNumber
    }
  }

  /// Schedules a decision. The decision at the deadline is skipped if a response has arrived.
  private func decide(_ transactionId: Int64, _ number: Int, at moment: Timestamp, unlessAnswered: Bool) {
    world.schedule(at: moment) { [weak self] world, now in
      guard let self else { return }
      let answer: ConsumptionInformation?? = state.withLock { state in
        guard var open = state.cases[transactionId], open.number == number, !open.isDecided,
          !(unlessAnswered && open.answer != nil)
        else { return nil }
        open.isDecided = true
        state.cases[transactionId] = open
        return .some(open.answer)
      }
      if let answer { carryOut(transactionId, answer, in: world, at: now) }
    }
  }

  private func carryOut(_ transactionId: Int64, _ answer: ConsumptionInformation?, in world: World, at now: Timestamp) {
    var generator = SeededGenerator(seed: seed ^ UInt64(bitPattern: transactionId))
    let elapsed = world.withState { state in state.transactions[transactionId]?.elapsed(at: now) }
    let decision = policy.decision(answer, elapsed: elapsed, using: &generator)
    world.withState { state in
      do throws(WorldError) {
        switch decision {
        case .declined: try state.declineRefund(transactionId, at: now)
        case .refunded(let percentage, _): try state.refund(transactionId, percentage: percentage, at: now)
        }
      } catch {
        // The purchase was refunded or removed in the meantime; there is nothing to decide.
      }
    }
    guard case .refunded(_, isReversedLater: true) = decision else { return }
    world.schedule(at: now + policy.reversalDelay) { world, now in
      world.withState { state in
        do throws(WorldError) {
          try state.reverseRefund(transactionId, at: now)
        } catch {
          // The refund was reversed in the meantime.
        }
      }
    }
  }
}

extension TransactionFacts {
  /// The elapsed share of a subscription's period, in milliunits; nil for other purchases.
  func elapsed(at now: Timestamp) -> Int64? {
    guard let expires, expires > purchaseDate else { return nil }
    let part = (now - purchaseDate) / (expires - purchaseDate)
    return Int64((min(max(part, 0), 1) * Double(ConsumptionInformation.everything)).rounded())
  }
}
