// What a customer consumed, for Apple's decision about a refund.

public import AppStore

extension AppStoreServerClient {
  /// Send Consumption Information: the answer to a CONSUMPTION_REQUEST, within twelve hours of receiving it.
  ///
  /// - Parameters:
  ///   - transactionId: The transaction of the notification.
  ///   - productType: The product's type when it is known: for auto-renewable subscriptions other rules hold.
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
