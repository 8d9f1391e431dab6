// The endpoints for subscriptions: their status and renewal date extensions.

internal import AppStore

extension APIEndpoints {
  func subscriptionStatuses(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    var wanted: Set<Status> = []
    for text in call.values("status") {
      guard let number = Int(text), Status.allKnown.contains(Status(rawValue: number)) else { throw .invalidStatus }
      wanted.insert(Status(rawValue: number))
    }
    let found = try world.withState { state throws(APIFailure) in
      let customer = try self.customer(call, in: state)
      let realm = state.realms[state.customers[customer].realm]
      var groups: [(group: String, subjects: [(status: Status, subject: PurchaseSubject)])] = []
      for subscription in state.customers[customer].subscriptions.compactMap({ state.subscriptions[$0] }) {
        guard wanted.isEmpty || wanted.contains(subscription.status),
          let transaction = state.transactions[subscription.transactionId],
          let group = state.product(of: transaction).group
        else { continue }
        let item = (status: subscription.status, subject: state.subject(transaction))
        if let index = groups.firstIndex(where: { $0.group == group }) {
          groups[index].subjects.append(item)
        } else {
          groups.append((group, [item]))
        }
      }
      return (app: realm.app, environment: realm.environment, groups: groups)
    }
    var data: [JSON] = []
    for (group, subjects) in found.groups {
      var items: [JSON] = []
      for (status, subject) in subjects {
        var item: JSONObject = [
          "status": status.jsonValue,
          "originalTransactionId": .string(String(subject.transaction.originalId)),
          "signedTransactionInfo": .string(try signed(subject, at: call.now)),
        ]
        item["signedRenewalInfo"] = try signedRenewalInfo(subject, at: call.now).map { .string($0) }
        items.append(.object(item))
      }
      data.append(["subscriptionGroupIdentifier": .string(group), "lastTransactions": .array(items)])
    }
    return .json([
      "environment": .string(found.environment.rawValue),
      "bundleId": .string(found.app.bundleId),
      "appAppleId": .integer(found.app.appAppleId),
      "data": .array(data),
    ])
  }

  func extend(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let id = try world.withState { state throws(APIFailure) in try original(call, in: state) }
    let terms = try ExtensionTerms(try call.object())
    return remembered(call, subject: String(id), identifier: terms.requestIdentifier) {
      () throws(APIFailure) in
      try world.withState { state throws(APIFailure) in
        guard let subscription = state.subscriptions[id] else {
          throw state.transactions[id].map { $0.originalId != id } == true
            ? .transactionIdIsNotOriginalTransactionId : .originalTransactionIdNotFound
        }
        if let refusal = ExtensionFacts(subscription, in: state).refusal(now: call.now) { throw refusal }
        do throws(WorldError) {
          try state.extendRenewal(id, byDays: terms.days, at: call.now)
        } catch {
          throw .subscriptionExtensionIneligible
        }
        let extended = state.subscriptions[id] ?? subscription
        let lineItem = state.transactions[extended.transactionId]?.webOrderLineItemId
        return .json([
          "originalTransactionId": .string(String(id)),
          "webOrderLineItemId": .string(lineItem.map { String($0) } ?? ""),
          "success": true,
          "effectiveDate": .integer(extended.expires.millisecondsSince1970),
        ])
      }
    }
  }

  func massExtend(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let request = try MassExtensionRequest(try call.object())
    let realm = try world.withState { state throws(APIFailure) in
      let realm = try self.realm(call, in: state)
      let product = state.realms[realm].app.products.first { $0.productId == request.productId }
      guard product?.isSubscription == true else { throw .invalidProductId }
      return realm
    }
    return remembered(call, subject: request.productId, identifier: request.terms.requestIdentifier) {
      () throws(APIFailure) in
      extensions.open(request, realm: realm, at: call.now)
      return .json(["requestIdentifier": .string(request.terms.requestIdentifier)])
    }
  }

  func massExtendStatus(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    guard call.parameters.count == 2 else { throw .badRequest }
    let (productId, identifier) = (call.parameters[0], call.parameters[1])
    guard identifier.isUUID else { throw .invalidRequestIdentifier }
    let realm = try world.withState { state throws(APIFailure) in try self.realm(call, in: state) }
    guard let job = extensions.status(realm: realm, productId: productId, requestIdentifier: identifier) else {
      throw .statusRequestNotFound
    }
    var answer: JSONObject = [
      "requestIdentifier": .string(job.request.terms.requestIdentifier), "complete": .bool(job.completed != nil),
    ]
    if let completed = job.completed {
      answer["completeDate"] = .integer(completed.millisecondsSince1970)
      answer["succeededCount"] = .integer(job.succeeded)
      answer["failedCount"] = .integer(job.failed)
    }
    return .json(answer)
  }

  /// Executes a request according to the request memory. It holds the gate's lock, which serializes concurrent requests
  /// with the same identifier.
  private func remembered(
    _ call: SimulatedCall, subject: String, identifier: String, carryOut: () throws(APIFailure) -> APIAnswer
  ) -> APIAnswer {
    let key = RequestMemory.Key(
      bundleId: call.bundleId, environment: call.environment, endpoint: call.endpoint, subject: subject,
      requestIdentifier: identifier)
    return gate.withGate { gate -> APIAnswer in
      let recall = gate.memory.recall(key, body: call.body)
      if recall.isReused {
        gate.journal.breach(.requestIdentifierReused, call.endpoint, "\(identifier) for \(subject)", at: call.now)
      }
      if let answer = recall.answer { return answer }
      let answer: APIAnswer
      do throws(APIFailure) {
        answer = try carryOut()
        if recall.repeatsEffect {
          gate.journal.breach(.effectRepeated, call.endpoint, "\(identifier) for \(subject)", at: call.now)
        }
      } catch {
        answer = .failure(error)
      }
      gate.memory.remember(answer, for: key)
      return answer
    }
  }
}
