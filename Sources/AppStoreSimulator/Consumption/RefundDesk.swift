// Refund requests from the customer's wish to Apple's decision.

internal import AppStore
internal import AppStoreSigning
internal import Synchronization

/// Asks the team, waits for its answer, and decides.
final class RefundDesk: Sendable {
  private struct Case {
    var asked: Timestamp
    var answer: ConsumptionAnswer?
    var isDecided = false
    /// Told apart from the case that a second wish of the same customer opens.
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

  /// A customer wants money back: Apple sends CONSUMPTION_REQUEST and decides by itself when the time for an answer is
  /// over.
  func customerAsks(
    _ transactionId: Int64, reason: ConsumptionRequestReason, at now: Timestamp
  ) throws(WorldError) {
    try world.withState { state throws(WorldError) in
      _ = try state.requestRefund(transactionId, reason: reason, at: now)
    }
    let number = open(transactionId, asked: now)
    decide(transactionId, number, at: now + policy.answerDeadline, unlessAnswered: true)
  }

  /// The team's answer.
  /// - Returns: the rule that it breaks; nil when it was asked for and is in time. Only then it counts.
  func take(_ answer: ConsumptionAnswer, for transactionId: Int64, at now: Timestamp) -> CallerRule? {
    // Requests that the world made without this desk count as well.
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

  /// Decides at a later moment; the deadline's decision falls away when an answer came.
  private func decide(_ transactionId: Int64, _ number: Int, at moment: Timestamp, unlessAnswered: Bool) {
    world.schedule(at: moment) { [weak self] world, now in
      guard let self else { return }
      let answer: ConsumptionAnswer?? = state.withLock { state in
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

  private func carryOut(_ transactionId: Int64, _ answer: ConsumptionAnswer?, in world: World, at now: Timestamp) {
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
        // Refunded by other means meanwhile, or forgotten: there is nothing left to decide.
      }
    }
    guard case .refunded(_, isReversedLater: true) = decision else { return }
    world.schedule(at: now + policy.reversalDelay) { world, now in
      world.withState { state in
        do throws(WorldError) {
          try state.reverseRefund(transactionId, at: now)
        } catch {
          // Reversed by other means meanwhile.
        }
      }
    }
  }
}

extension TransactionFacts {
  /// The part of a subscription's period that is over, in milliunits; nil for other purchases.
  func elapsed(at now: Timestamp) -> Int64? {
    guard let expires, expires > purchaseDate else { return nil }
    let part = (now - purchaseDate) / (expires - purchaseDate)
    return Int64((min(max(part, 0), 1) * Double(ConsumptionAnswer.everything)).rounded())
  }
}
