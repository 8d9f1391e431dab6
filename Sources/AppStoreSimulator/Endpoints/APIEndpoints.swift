// The responses of the endpoints. Data is read while holding the world's lock and signed after releasing it.

internal import AppStore

/// The endpoints for a world.
struct APIEndpoints: Sendable {
  let world: World
  let signer: NotificationSigner
  let gate: Gatekeeper
  let tokens: PageTokens
  let paginationTokenLifetime: Duration
  let extensions: ExtensionService
  let refundDesk: RefundService
  let messaging: MessagingService
  /// The realms with a URL for notifications; nil for all.
  let reachable: Set<RealmID>?

  /// Responds to a call.
  ///
  /// - Throws: Apple's error.
  func answer(_ call: SimulatedCall) throws(APIFailure) -> APIAnswer {
    switch call.endpoint {
    case .getTransactionInfo: try transactionInfo(call)
    case .getTransactionHistory, .getTransactionHistoryV1: try transactionHistory(call)
    case .getAllSubscriptionStatuses: try subscriptionStatuses(call)
    case .getAppTransactionInfo: try appTransactionInfo(call)
    case .setAppAccountToken: try setAppAccountToken(call)
    case .lookUpOrderId: try lookUpOrder(call)
    case .sendConsumptionInformation, .sendConsumptionInformationV1: try sendConsumption(call)
    case .getRefundHistory: try refundHistory(call)
    case .getRefundHistoryV1: try refundHistoryV1(call)
    case .extendSubscriptionRenewalDate: try extend(call)
    case .massExtendRenewalDate: try massExtend(call)
    case .getMassExtendStatus: try massExtendStatus(call)
    case .getNotificationHistory: try notificationHistory(call)
    case .requestTestNotification: try requestTest(call)
    case .getTestNotificationStatus: try testStatus(call)
    case .finishTransaction: try finish(call)
    case .uploadImage: try uploadImage(call)
    case .deleteImage: try deleteImage(call)
    case .getImageList: try imageList(call)
    case .uploadMessage: try uploadMessage(call)
    case .deleteMessage: try deleteMessage(call)
    case .getMessageList: try messageList(call)
    case .configureDefaultMessage: try configureDefaultMessage(call)
    case .deleteDefaultMessage: try deleteDefaultMessage(call)
    case .getDefaultMessage: try defaultMessage(call)
    case .configureRealtimeURL: try configureRealtimeURL(call)
    case .deleteRealtimeURL: try deleteRealtimeURL(call)
    case .getRealtimeURL: try realtimeURL(call)
    case .initiatePerformanceTest: try initiatePerformanceTest(call)
    case .getPerformanceTestResults: try performanceTestResults(call)
    }
  }
}

// Lookups by the identifiers in a path.
extension APIEndpoints {
  /// Parses an identifier, which consists of decimal digits.
  static func number(_ text: String, else failure: APIFailure) throws(APIFailure) -> Int64 {
    guard text.utf8.count <= 19, text.utf8.allSatisfy({ (48...57).contains($0) }), let id = Int64(text), id > 0 else {
      throw failure
    }
    return id
  }

  /// The realm of the call.
  func realm(_ call: SimulatedCall, in state: WorldState) throws(APIFailure) -> RealmID {
    guard let realm = state.realm(bundleId: call.bundleId, environment: call.environment) else { throw .appNotFound }
    return realm
  }

  /// The customer of the identifier in the path, which can be of any kind.
  func customer(_ call: SimulatedCall, in state: WorldState) throws(APIFailure) -> CustomerID {
    let id = try Self.number(call.parameter, else: .invalidTransactionId)
    guard let customer = state.customer(of: id, in: try self.realm(call, in: state)) else {
      throw .transactionIdNotFound
    }
    return customer
  }

  /// The transaction of the identifier in the path. An original transaction identifier finds its first transaction or,
  /// if that was dropped, the current one.
  func transaction(_ call: SimulatedCall, in state: WorldState) throws(APIFailure) -> TransactionFacts {
    let id = try Self.number(call.parameter, else: .invalidTransactionId)
    let realm = try self.realm(call, in: state)
    guard let customer = state.customer(of: id, in: realm) else { throw .transactionIdNotFound }
    if let transaction = state.transactions[id] { return transaction }
    guard state.customers[customer].appTransactionId != id else { throw .appTransactionIdNotSupported }
    guard let subscription = state.subscriptions[id], let transaction = state.transactions[subscription.transactionId]
    else { throw .transactionIdNotFound }
    return transaction
  }

  /// The original transaction identifier in the call's path.
  func original(_ call: SimulatedCall, in state: WorldState) throws(APIFailure) -> Int64 {
    let id = try Self.number(call.parameter, else: .invalidOriginalTransactionId)
    guard let customer = state.customer(of: id, in: try self.realm(call, in: state)) else {
      throw .originalTransactionIdNotFound
    }
    guard state.customers[customer].appTransactionId != id else { throw .appTransactionIdNotSupported }
    return id
  }
}
