// Subscriptions: their state, and moving their renewal dates.

public import AppStore

/// The subscriptions of a customer in one group (App Store Server API, `SubscriptionGroupIdentifierItem`).
public struct SubscriptionGroup: Sendable, Hashable {
  /// The group.
  public let subscriptionGroupIdentifier: String?
  /// Its subscriptions.
  public let subscriptions: [SubscriptionState]
}

/// One subscription now (App Store Server API, `lastTransactionsItem`).
public struct SubscriptionState: Sendable, Hashable {
  /// Its state.
  public let status: Status?
  /// Its original transaction.
  public let originalTransactionId: String?
  /// Its newest transaction, verified.
  public let transaction: SignedTransaction?
  /// How it renews, verified.
  public let renewalInfo: SignedRenewalInfo?
}

extension AppStoreServerClient {
  /// Get All Subscription Statuses.
  ///
  /// - Parameters:
  ///   - transactionId: Any transaction of the customer.
  ///   - request: Which states are asked for; all by default.
  ///   - environment: Nil: production, then the sandbox.
  public func getAllSubscriptionStatuses(
    _ transactionId: String, _ request: SubscriptionStatusesRequest = SubscriptionStatusesRequest(),
    in environment: AppStoreEnvironment? = nil
  ) async throws(APIError) -> APIResponse<[SubscriptionGroup]> {
    try await locate(in: environment) { (environment) throws(APIError) in
      let call = APICall(
        endpoint: .getAllSubscriptionStatuses, environment: environment,
        path: ["inApps", "v1", "subscriptions", transactionId], query: request.queryItems)
      let violations = RequestParameter.anyTransactionId.violations(in: transactionId) + request.violations()
      return try await self.call(call, violations: violations) { (reader) async throws(APIError) in
        let body = try reader.body(StatusResponse.self)
        var groups: [SubscriptionGroup] = []
        for (index, item) in try reader.elements(body.data, "data", of: body.json).enumerated() {
          groups.append(try await reader.group(item, "data[\(index)]"))
        }
        return reader.response(groups, body.json)
      }
    }
  }

  /// Extend a Subscription Renewal Date. Cannot be undone, and the customer gets an e-mail.
  ///
  /// After an unclear error send the same request again: its `requestIdentifier` tells Apple that it is the same.
  public func extendSubscriptionRenewalDate(
    _ originalTransactionId: String, _ request: ExtendRenewalDateRequest, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<ExtendRenewalDateResponse> {
    let call = APICall(
      endpoint: .extendSubscriptionRenewalDate, environment: environment,
      path: ["inApps", "v1", "subscriptions", "extend", originalTransactionId], body: request.serialized())
    let violations = RequestParameter.originalTransactionId.violations(in: originalTransactionId) + request.violations()
    return try await self.call(call, violations: violations) { (reader) async throws(APIError) in
      let body = try reader.body(ExtendRenewalDateResponse.self)
      // Without it nobody knows whether the date moved.
      _ = try reader.required(body.success, "success")
      return reader.response(body, body.json)
    }
  }

  /// Extend Subscription Renewal Dates for All Active Subscribers. Answers at once and works for hours or days; cannot be
  /// undone.
  public func extendRenewalDateForAllActiveSubscribers(
    _ request: MassExtendRenewalDateRequest, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<MassExtendRenewalDateResponse> {
    let call = APICall(
      endpoint: .massExtendRenewalDate, environment: environment,
      path: ["inApps", "v1", "subscriptions", "extend", "mass"], body: request.serialized())
    return try await self.call(call, violations: request.violations()) { (reader) async throws(APIError) in
      let body = try reader.body(MassExtendRenewalDateResponse.self)
      return reader.response(body, body.json)
    }
  }

  /// Get Status of Subscription Renewal Date Extensions.
  ///
  /// - Parameter requestIdentifier: The UUID of the mass extension.
  public func getStatusOfSubscriptionRenewalDateExtensions(
    productId: String, requestIdentifier: String, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<MassExtendRenewalDateStatusResponse> {
    let call = APICall(
      endpoint: .getMassExtendStatus, environment: environment,
      path: ["inApps", "v1", "subscriptions", "extend", "mass", productId, requestIdentifier])
    let violations =
      RequestParameter.productId.violations(in: productId)
      + RequestParameter.requestIdentifier.violations(in: requestIdentifier)
    return try await self.call(call, violations: violations) { (reader) async throws(APIError) in
      let body = try reader.body(MassExtendRenewalDateStatusResponse.self)
      _ = try reader.required(body.complete, "complete")
      return reader.response(body, body.json)
    }
  }
}

extension ResponseReader {
  fileprivate func group(
    _ item: SubscriptionGroupIdentifierItem, _ path: String
  ) async throws(APIError) -> SubscriptionGroup {
    var subscriptions: [SubscriptionState] = []
    let field = path + ".lastTransactions"
    for (index, last) in try elements(item.lastTransactions, "lastTransactions", of: item.json).enumerated() {
      var (transaction, renewalInfo): (SignedTransaction?, SignedRenewalInfo?)
      if let jws = last.signedTransactionInfo {
        transaction = try await self.transaction(jws, "\(field)[\(index)].signedTransactionInfo")
      }
      if let jws = last.signedRenewalInfo {
        renewalInfo = try await self.renewalInfo(jws, "\(field)[\(index)].signedRenewalInfo")
      }
      subscriptions.append(
        SubscriptionState(
          status: last.status, originalTransactionId: last.originalTransactionId, transaction: transaction,
          renewalInfo: renewalInfo))
    }
    return SubscriptionGroup(
      subscriptionGroupIdentifier: item.subscriptionGroupIdentifier, subscriptions: subscriptions)
  }
}
