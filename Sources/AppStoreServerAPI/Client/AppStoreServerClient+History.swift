// The endpoints for a customer's transactions and refunds, in pages of twenty.

public import AppStore

/// A page of transactions (App Store Server API, `HistoryResponse`, `RefundHistoryResponse`).
public struct TransactionPage: APIPage, Hashable {
  /// The verified transactions.
  public let items: [SignedTransaction]
  /// Requests the transactions after this page. Store the revision of the last page to request newer transactions
  /// later. In descending order the last page has none, because newer transactions are not after it (`revision`).
  public let revision: String?
  /// Whether there are more pages at present.
  public let hasMore: Bool

  /// The same as ``revision``.
  public var cursor: String? { revision }
}

extension AppStoreServerClient {
  /// Get Transaction History, as pages.
  ///
  /// - Parameters:
  ///   - transactionId: Any transaction of the customer.
  ///   - request: The filters, which are the same for every page.
  ///   - revision: The revision to start after; nil for the first page.
  ///   - environment: nil for production first, then the sandbox.
  public func getTransactionHistory(
    _ transactionId: String, _ request: TransactionHistoryRequest = TransactionHistoryRequest(),
    after revision: String? = nil, in environment: AppStoreEnvironment? = nil
  ) -> APIPages<TransactionPage> {
    history(.getTransactionHistory, "v2", transactionId, request, after: revision, in: environment)
  }

  /// Get Transaction History V1, as pages. Deprecated by Apple: it omits finished consumables.
  public func getTransactionHistoryV1(
    _ transactionId: String, _ request: TransactionHistoryRequest = TransactionHistoryRequest(),
    after revision: String? = nil, in environment: AppStoreEnvironment? = nil
  ) -> APIPages<TransactionPage> {
    history(.getTransactionHistoryV1, "v1", transactionId, request, after: revision, in: environment)
  }

  private func history(
    _ endpoint: APIEndpoint, _ version: String, _ transactionId: String, _ request: TransactionHistoryRequest,
    after revision: String?, in environment: AppStoreEnvironment?
  ) -> APIPages<TransactionPage> {
    APIPages(environment: environment, start: revision) { (revision, environment) throws(APIError) in
      try await locate(in: environment) { (environment) throws(APIError) in
        let call = APICall(
          endpoint: endpoint, environment: environment, path: ["inApps", version, "history", transactionId],
          query: request.queryItems(revision: revision))
        let violations = RequestParameter.anyTransactionId.violations(in: transactionId) + request.violations()
        return try await self.call(call, violations: violations) { (reader) async throws(APIError) in
          let body = try reader.body(HistoryResponse.self)
          return try await reader.page(
            hasMore: body.hasMore, body.revision, of: body.json, asked: revision,
            isDescending: request.sort == .descending)
        }
      }
    }
  }

  /// Get Refund History, as pages.
  ///
  /// - Parameters:
  ///   - transactionId: Any transaction of the customer.
  ///   - revision: The revision to start after; nil for the first page. The revision of the last page requests newer
  ///     refunds
  ///     only.
  ///   - environment: nil for production first, then the sandbox.
  public func getRefundHistory(
    _ transactionId: String, after revision: String? = nil, in environment: AppStoreEnvironment? = nil
  ) -> APIPages<TransactionPage> {
    APIPages(environment: environment, start: revision) { (revision, environment) throws(APIError) in
      try await locate(in: environment) { (environment) throws(APIError) in
        let call = APICall(
          endpoint: .getRefundHistory, environment: environment,
          path: ["inApps", "v2", "refund", "lookup", transactionId],
          query: revision.map { [QueryItem("revision", $0)] } ?? [])
        return try await self.call(call, violations: RequestParameter.anyTransactionId.violations(in: transactionId)) {
          (reader) async throws(APIError) in
          let body = try reader.body(RefundHistoryResponse.self)
          return try await reader.page(hasMore: body.hasMore, body.revision, of: body.json, asked: revision)
        }
      }
    }
  }

  /// Get Refund History V1: at most the 50 newest refunds. Deprecated by Apple.
  public func getRefundHistoryV1(
    _ originalTransactionId: String, in environment: AppStoreEnvironment? = nil
  ) async throws(APIError) -> APIResponse<[SignedTransaction]> {
    try await locate(in: environment) { (environment) throws(APIError) in
      let call = APICall(
        endpoint: .getRefundHistoryV1, environment: environment,
        path: ["inApps", "v1", "refund", "lookup", originalTransactionId])
      return try await self.call(
        call, violations: RequestParameter.originalTransactionId.violations(in: originalTransactionId)
      ) {
        (reader) async throws(APIError) in
        let body = try reader.body(RefundLookupResponse.self)
        return reader.response(try await reader.transactions("signedTransactions", of: body.json), body.json)
      }
    }
  }
}

extension ResponseReader {
  /// Creates a page from the body of either history.
  fileprivate func page(
    hasMore: Bool?, _ revision: String?, of json: JSONObject, asked: String?, isDescending: Bool = false
  ) async throws(APIError) -> APIResponse<TransactionPage> {
    let hasMore = hasMore ?? false
    let items = try await transactions("signedTransactions", of: json)
    let next = try cursor(revision, hasMore: hasMore, asked: asked, "revision")
    let page = TransactionPage(items: items, revision: isDescending && !hasMore ? nil : next, hasMore: hasMore)
    return response(page, json)
  }
}
