// The endpoints for refunds: the history and consumption information.

internal import AppStore
internal import AppStoreSigning

extension APIEndpoints {
  /// "At most 50 of the most recently refunded transactions."
  private static let refundsInV1 = 50

  func refundHistory(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let query = call.pageQuery(without: "revision", about: call.parameter)
    let start = try position(call, "revision", query: query, lifetime: nil)
    let found = try world.withState { state throws(APIFailure) in
      let page = Page(
        of: refunds(of: try self.customer(call, in: state), in: state), after: start, position: \.refundPosition)
      return (page: page, subjects: page.elements.map { state.subject($0) })
    }
    return .json([
      "signedTransactions": try signed(found.subjects, at: call.now),
      "revision": .string(tokens.token(after: found.page.end, query: query, now: call.now)),
      "hasMore": .bool(found.page.hasMore),
    ])
  }

  func refundHistoryV1(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let subjects = try world.withState { state throws(APIFailure) in
      let id = try original(call, in: state)
      guard let customer = state.customer(of: id, in: try self.realm(call, in: state)) else {
        throw .originalTransactionIdNotFound
      }
      return refunds(of: customer, in: state).suffix(Self.refundsInV1).reversed().map { state.subject($0) }
    }
    return .json([
      "signedTransactions": try signed(subjects, at: call.now)
    ])
  }

  /// The refunded transactions, oldest first. The end of Family Sharing is not a refund.
  private func refunds(of customer: CustomerID, in state: WorldState) -> [TransactionFacts] {
    state.customers[customer].transactions.compactMap { state.transactions[$0] }
      .filter { $0.revocation.map { $0.type != .familyRevoke } ?? false }
      .sorted { $0.refundPosition < $1.refundPosition }
  }

  func sendConsumption(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let body = try call.object()
    let (transaction, type) = try world.withState { state throws(APIFailure) -> (TransactionFacts, ProductType) in
      let found = try self.transaction(call, in: state)
      return (found, state.product(of: found).type)
    }
    let answer: ConsumptionInformation
    if call.endpoint == .sendConsumptionInformationV1 {
      guard type == .consumable || type == .autoRenewableSubscription else {
        throw .invalidTransactionTypeNotSupported
      }
      answer = try ConsumptionInformation(v1: body)
    } else {
      answer = try ConsumptionInformation(body, of: type)
    }
    if let rule = refundDesk.take(answer, for: transaction.id, at: call.now) {
      gate.withGate { $0.journal.breach(rule, call.endpoint, "transaction \(transaction.id)", at: call.now) }
    }
    return .empty(202)
  }
}

extension TransactionFacts {
  fileprivate var refundPosition: PagePosition {
    PagePosition(moment: revocation?.date ?? modified, sequence: id)
  }
}
