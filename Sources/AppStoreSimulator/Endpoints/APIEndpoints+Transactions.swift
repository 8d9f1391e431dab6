// The endpoints for transactions: lookups by transaction, customer and order, and changes to a transaction.

internal import AppStore

extension APIEndpoints {
  func transactionInfo(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let subject = try world.withState { state throws(APIFailure) in state.subject(try self.transaction(call, in: state))
    }
    return .json(["signedTransactionInfo": .string(try signed(subject, at: call.now))])
  }

  func transactionHistory(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let wanted = try HistoryQuery(call)
    let query = call.pageQuery(without: "revision", about: call.parameter)
    let start = try position(call, "revision", query: query, lifetime: nil)
    let found = try world.withState { state throws(APIFailure) in
      let customer = try self.customer(call, in: state)
      let rows = state.customers[customer].transactions.compactMap { state.transactions[$0] }
        .filter { transaction in
          if call.endpoint == .getTransactionHistoryV1, transaction.isFinished, transaction.revocation == nil,
            state.product(of: transaction).type == .consumable
          {
            return false
          }
          return wanted.wants(HistoryQuery.Row(transaction, state.product(of: transaction)))
        }
        .sorted { wanted.isDescending ? $1.position < $0.position : $0.position < $1.position }
      let page = Page(of: rows, after: start, descending: wanted.isDescending, position: \.position)
      let realm = state.realms[state.customers[customer].realm]
      return (
        page: page, app: realm.app, environment: realm.environment, subjects: page.elements.map { state.subject($0) }
      )
    }
    return .json([
      "revision": .string(tokens.token(after: found.page.end, query: query, now: call.now)),
      "hasMore": .bool(found.page.hasMore),
      "bundleId": .string(found.app.bundleId),
      "appAppleId": .integer(found.app.appAppleId),
      "environment": .string(found.environment.rawValue),
      "signedTransactions": try signed(found.subjects, at: call.now),
    ])
  }

  func appTransactionInfo(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let subject = try world.withState { state throws(APIFailure) in
      state.subject(ofCustomer: try self.customer(call, in: state))
    }
    guard let subject else { throw .appTransactionDoesNotExist }
    return .json(["signedAppTransactionInfo": .string(try signed(subject, at: call.now))])
  }

  /// Look Up Order ID is not available in the sandbox. An unknown order is a response with status 1, not an error.
  func lookUpOrder(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    guard call.environment == .production else { return .empty(404) }
    let subject = try world.withState { state throws(APIFailure) in
      let realm = try self.realm(call, in: state)
      let transaction = OrderID.parse(call.parameter).flatMap { state.transaction(ofOrder: $0) }
      return transaction.flatMap { state.customers[$0.customer].realm == realm ? state.subject($0) : nil }
    }
    guard let subject else { return .json(["status": 1]) }
    return .json(["status": 0, "signedTransactions": [.string(try signed(subject, at: call.now))]])
  }

  func setAppAccountToken(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    guard case .string(let text) = try call.object()["appAccountToken"], let token = CompactUUID(text) else {
      throw .invalidAppAccountTokenUUID
    }
    try world.withState { state throws(APIFailure) in
      let id = try original(call, in: state)
      if let transaction = state.transactions[id], transaction.originalId != id {
        throw .transactionIdIsNotOriginalTransactionId
      }
      let ownership = state.subscriptions[id]?.ownership ?? state.transactions[id]?.ownership
      guard ownership != .familyShared else { throw .familyTransactionNotSupported }
      do throws(WorldError) {
        try state.setAppAccountToken(token, ofOriginal: id, at: call.now)
      } catch {
        throw .originalTransactionIdNotFound
      }
    }
    return .empty()
  }

  func finish(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    try world.withState { state throws(APIFailure) in
      let id = try self.transaction(call, in: state).id
      do throws(WorldError) {
        try state.finish(id)
      } catch {
        throw .transactionIdNotFound
      }
    }
    return .empty()
  }

  /// Returns the position of a page token. Records a breach if the token belongs to another query.
  func position(
    _ call: SimulatedCall, _ name: String, query: String, lifetime: Duration?
  ) throws(APIFailure) -> PagePosition? {
    let isRevision = name == "revision"
    let wrong = isRevision ? APIFailure.invalidRevision : .invalidPaginationToken
    guard let token = try call.value(name, else: wrong) else { return nil }
    do throws(PageTokens.Refusal) {
      return try tokens.position(token, query: query, lifetime: lifetime, now: call.now)
    } catch {
      switch error {
      case .notOurs: throw wrong
      case .expired: throw .paginationTokenExpired
      case .otherQuery:
        gate.withGate { $0.journal.breach(.pageQueryChanged, call.endpoint, "app \(call.bundleId)", at: call.now) }
        throw isRevision ? .invalidRevision : .paginationTokenExpired
      }
    }
  }
}

extension TransactionFacts {
  /// The position in the history, which is sorted by the last change.
  var position: PagePosition { PagePosition(moment: modified, sequence: id) }
}

extension HistoryQuery.Row {
  init(_ transaction: TransactionFacts, _ product: Product) {
    self.init(
      purchaseDate: transaction.purchaseDate, productId: product.productId, type: product.type, group: product.group,
      ownership: transaction.ownership, isRevoked: transaction.revocation != nil)
  }
}
