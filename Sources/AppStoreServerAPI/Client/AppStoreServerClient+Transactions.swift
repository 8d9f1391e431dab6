// The endpoints for a single transaction: lookup, app account token and finishing.

public import AppStore

extension AppStoreServerClient {
  /// Get Transaction Info.
  ///
  /// - Parameters:
  ///   - transactionId: A transaction or an original transaction.
  ///   - environment: nil for production first, then the sandbox.
  public func getTransactionInfo(
    _ transactionId: String, in environment: AppStoreEnvironment? = nil
  ) async throws(APIError) -> APIResponse<SignedTransaction> {
    try await locate(in: environment) { (environment) throws(APIError) in
      let call = APICall(
        endpoint: .getTransactionInfo, environment: environment, path: ["inApps", "v1", "transactions", transactionId])
      return try await self.call(call, violations: RequestParameter.transactionId.violations(in: transactionId)) {
        (reader) async throws(APIError) in
        let body = try reader.body(TransactionInfoResponse.self)
        let jws = try reader.required(body.signedTransactionInfo, "signedTransactionInfo")
        return reader.response(try await reader.transaction(jws, "signedTransactionInfo"), body.json)
      }
    }
  }

  /// Get App Transaction Info.
  ///
  /// - Parameters:
  ///   - transactionId: Any transaction of the customer: a transaction, an original transaction or an app transaction.
  ///   - environment: nil for production first, then the sandbox.
  public func getAppTransactionInfo(
    _ transactionId: String, in environment: AppStoreEnvironment? = nil
  ) async throws(APIError) -> APIResponse<SignedAppTransaction> {
    try await locate(in: environment) { (environment) throws(APIError) in
      let call = APICall(
        endpoint: .getAppTransactionInfo, environment: environment,
        path: ["inApps", "v1", "transactions", "appTransactions", transactionId])
      return try await self.call(call, violations: RequestParameter.anyTransactionId.violations(in: transactionId)) {
        (reader) async throws(APIError) in
        let body = try reader.body(AppTransactionInfoResponse.self)
        let jws = try reader.required(body.signedAppTransactionInfo, "signedAppTransactionInfo")
        return reader.response(try await reader.appTransaction(jws, "signedAppTransactionInfo"), body.json)
      }
    }
  }

  /// Look Up Order ID. Apple offers it in production only.
  ///
  /// - Parameter orderId: The order ID on the customer's receipt.
  public func lookUpOrderId(
    _ orderId: String, in environment: AppStoreEnvironment = .production
  ) async throws(APIError) -> APIResponse<OrderLookup> {
    let call = APICall(endpoint: .lookUpOrderId, environment: environment, path: ["inApps", "v1", "lookup", orderId])
    return try await self.call(call, violations: RequestParameter.orderId.violations(in: orderId)) {
      (reader) async throws(APIError) in
      let body = try reader.body(OrderLookupResponse.self)
      let order = OrderLookup(
        status: try reader.required(body.status, "status"),
        transactions: try await reader.transactions("signedTransactions", of: body.json))
      return reader.response(order, body.json)
    }
  }

  /// Set App Account Token.
  ///
  /// - Parameter originalTransactionId: An original transaction. Apple rejects others (4000187).
  public func setAppAccountToken(
    _ originalTransactionId: String, _ request: UpdateAppAccountTokenRequest, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<Void> {
    let call = APICall(
      endpoint: .setAppAccountToken, environment: environment,
      path: ["inApps", "v1", "transactions", originalTransactionId, "appAccountToken"], body: request.serialized())
    return try await callWithoutBody(
      call,
      violations: RequestParameter.originalTransactionId.violations(in: originalTransactionId) + request.violations())
  }

  /// Finish Transaction: tells the App Store that the customer has received the purchase.
  public func finishTransaction(
    _ transactionId: String, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<Void> {
    let call = APICall(
      endpoint: .finishTransaction, environment: environment,
      path: ["inApps", "v1", "transactions", transactionId, "finish"])
    return try await callWithoutBody(call, violations: RequestParameter.transactionId.violations(in: transactionId))
  }
}

/// The contents of an order (App Store Server API, `OrderLookupResponse`).
public struct OrderLookup: Sendable, Hashable {
  /// Whether the order belongs to this app.
  public let status: OrderLookupStatus
  /// The verified transactions of the order; empty if ``status`` says that there is no such order.
  public let transactions: [SignedTransaction]
}
