// The endpoints for subscriptions: their status and renewal date extensions.

public import AppStore

/// A customer's subscriptions in one group (App Store Server API, `SubscriptionGroupIdentifierItem`).
public struct SubscriptionGroup: Sendable, Hashable {
  /// The group identifier.
  public let subscriptionGroupIdentifier: String?
  /// The subscriptions in the group.
  public let subscriptions: [SubscriptionState]
}

/// The current state of a subscription (App Store Server API, `lastTransactionsItem`).
public struct SubscriptionState: Sendable, Hashable {
  /// The status.
  public let status: Status?
  /// The original transaction.
  public let originalTransactionId: String?
  /// The newest transaction, verified; nil if it is absent or in ``APIResponse/skipped``.
  public let transaction: SignedTransaction?
  /// The renewal info, verified; nil if it is absent or in ``APIResponse/skipped``.
  public let renewalInfo: SignedRenewalInfo?
}

extension AppStoreServerClient {
  /// Get All Subscription Statuses.
  ///
  /// - Parameters:
  ///   - transactionId: Any transaction of the customer.
  ///   - request: The statuses to return; all by default.
  ///   - environment: nil for production first, then the sandbox.
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
        for (group, item) in try reader.elements(SubscriptionGroupIdentifierItem.self, "data", of: body.json) {
          groups.append(try await reader.group(group, item))
        }
        return reader.response(groups, body.json)
      }
    }
  }

  /// Extend a Subscription Renewal Date. An extension cannot be undone, and the customer receives an email.
  ///
  /// After an unclear error, send the same request again. Apple recognizes it by its `requestIdentifier`.
  public func extendSubscriptionRenewalDate(
    _ originalTransactionId: String, _ request: ExtendRenewalDateRequest, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<ExtendRenewalDateResponse> {
    let call = APICall(
      endpoint: .extendSubscriptionRenewalDate, environment: environment,
      path: ["inApps", "v1", "subscriptions", "extend", originalTransactionId], body: request.serialized())
    let violations = RequestParameter.originalTransactionId.violations(in: originalTransactionId) + request.violations()
    return try await self.call(call, violations: violations) { (reader) async throws(APIError) in
      let body = try reader.body(ExtendRenewalDateResponse.self)
      // Without this field, it is unknown whether the date was extended.
      _ = try reader.required(body.success, "success")
      return reader.response(body, body.json)
    }
  }

  /// Extend Subscription Renewal Dates for All Active Subscribers. Apple responds immediately and needs hours or days
  /// to complete the extension, which cannot be undone.
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
    for (last, field) in try elements(LastTransactionsItem.self, "lastTransactions", of: item.json) {
      let place = "\(path).\(field)"
      var (transaction, renewalInfo): (SignedTransaction?, SignedRenewalInfo?)
      if let jws = last.signedTransactionInfo {
        transaction = try await self.item { () async throws(APIError) in
          try await self.transaction(jws, place + ".signedTransactionInfo")
        }
      }
      if let jws = last.signedRenewalInfo {
        renewalInfo = try await self.item { () async throws(APIError) in
          try await self.renewalInfo(jws, place + ".signedRenewalInfo")
        }
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
