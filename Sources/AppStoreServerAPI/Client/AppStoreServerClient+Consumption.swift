// The endpoints for consumption information, which Apple uses for refund decisions.

public import AppStore

extension AppStoreServerClient {
  /// Send Consumption Information: responds to a CONSUMPTION_REQUEST, within twelve hours of receiving it.
  ///
  /// - Parameters:
  ///   - transactionId: The transaction in the notification.
  ///   - productType: The type of the product, if known. Auto-renewable subscriptions have different constraints.
  public func sendConsumptionInformation(
    _ transactionId: String, _ request: ConsumptionRequest, productType: ProductType? = nil,
    in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<Void> {
    let call = APICall(
      endpoint: .sendConsumptionInformation, environment: environment,
      path: ["inApps", "v2", "transactions", "consumption", transactionId], body: request.serialized())
    return try await callWithoutBody(
      call,
      violations: RequestParameter.transactionId.violations(in: transactionId)
        + request.violations(productType: productType))
  }

  /// Send Consumption Information V1. Deprecated by Apple.
  public func sendConsumptionInformationV1(
    _ transactionId: String, _ request: ConsumptionRequestV1, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<Void> {
    let call = APICall(
      endpoint: .sendConsumptionInformationV1, environment: environment,
      path: ["inApps", "v1", "transactions", "consumption", transactionId], body: request.serialized())
    return try await callWithoutBody(
      call, violations: RequestParameter.transactionId.violations(in: transactionId) + request.violations())
  }
}
