// The endpoints for the notification history and test notifications.

internal import AppStore
internal import AppStoreSigning

extension APIEndpoints {
  /// "Up to six months."
  private static let testTokenLifetime = Duration.seconds(183 * 86_400)

  func notificationHistory(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let wanted = try NotificationHistoryQuery(try call.object(), environment: call.environment, now: call.now)
    let query = call.pageQuery(without: "paginationToken", about: "")
    let start = try position(call, "paginationToken", query: query, lifetime: paginationTokenLifetime)
    let (page, items) = try world.withState { state throws(APIFailure) in
      let realm = try self.realm(call, in: state)
      let customer = try wanted.transactionId.map { text throws(APIFailure) in
        let id = try Self.number(text, else: .invalidTransactionId)
        guard let customer = state.customer(of: id, in: realm) else { throw .transactionIdNotFound }
        return customer
      }
      let hasPostman = state.hasPostman
      let records = state.realms[realm].log.records(after: start?.sequence ?? -1).lazy.filter {
        wanted.wants($0, of: customer, hasPostman: hasPostman)
      }
      let page = Page(of: records, after: start, position: \.position)
      return (page: page, items: page.elements.map { (state.subject(of: $0), $0.attempts) })
    }
    var history: [JSON] = []
    for (subject, attempts) in items { history.append(.object(try item(subject, attempts))) }
    return .json([
      "paginationToken": .string(tokens.token(after: page.end, query: query, now: call.now)),
      "hasMore": .bool(page.hasMore),
      "notificationHistory": .array(history),
    ])
  }

  func requestTest(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let uuid = try world.withState { state throws(APIFailure) in
      let realm = try self.realm(call, in: state)
      guard reachable?.contains(realm) ?? true, let uuid = state.requestTest(in: realm, at: call.now) else {
        throw .serverNotificationURLNotFound
      }
      return uuid
    }
    return .json(["testNotificationToken": .string("\(uuid.text)_\(call.now.millisecondsSince1970)")])
  }

  func testStatus(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    let parts = call.parameter.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, let uuid = CompactUUID(String(parts[0])), let sent = Int64(parts[1]) else {
      throw .invalidTestNotificationToken
    }
    let found = try world.withState { state throws(APIFailure) -> (NotificationSubject, [SendAttempt])? in
      let realm = try self.realm(call, in: state)
      guard let record = state.record(uuid: uuid), record.facts.realm == realm, record.facts.kind.type == .test else {
        return nil
      }
      return (state.subject(of: record), record.attempts)
    }
    guard let (subject, attempts) = found, !attempts.isEmpty,
      call.now - Timestamp(millisecondsSince1970: sent) < Self.testTokenLifetime
    else { throw .testNotificationNotFound }
    return .json(try item(subject, attempts))
  }

  /// `notificationHistoryResponseItem`, which is also the response about a test notification.
  private func item(_ subject: NotificationSubject, _ attempts: [SendAttempt]) throws(APIFailure) -> JSONObject {
    [
      "signedPayload": .string(try signed(subject)),
      "sendAttempts": .array(
        attempts.map { attempt in
          [
            "attemptDate": .integer(attempt.date.millisecondsSince1970),
            "sendAttemptResult": .string(attempt.result.rawValue),
          ]
        }),
    ]
  }
}

extension NotificationLogEntry {
  /// The position by order of occurrence, which is also the order of dates.
  fileprivate var position: PagePosition {
    PagePosition(moment: Timestamp(millisecondsSince1970: 0), sequence: facts.sequence)
  }
}

extension NotificationHistoryQuery {
  /// - Parameter customer: the customer whose notifications are requested; nil for all.
  fileprivate func wants(_ record: NotificationLogEntry, of customer: CustomerID?, hasPostman: Bool) -> Bool {
    let facts = record.facts
    guard facts.signedDate >= from, facts.signedDate < until else { return false }
    if let type, facts.kind.type != type { return false }
    if let subtype, facts.kind.subtype != subtype { return false }
    if let customer, facts.content.customer != customer { return false }
    // A notification that waits for its first attempt has not been sent. Without a delivery service there are no
    // attempts.
    if hasPostman, record.attempts.isEmpty { return false }
    return !onlyFailures || !record.attempts.contains { $0.result == .success }
  }
}

extension NotificationFacts.Content {
  fileprivate var customer: CustomerID? {
    switch self {
    case .purchase(let transaction, _, _): transaction.customer
    case .consent(let customer): customer
    case .summary, .token, .test: nil
    }
  }
}
