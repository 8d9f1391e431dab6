import AppStore
import MillraceTime
import Testing

@testable import AppStoreServerAPI

@Suite struct ViolationsTests {
  private let fixture: APIFixture
  init() throws { fixture = try APIFixture() }

  /// Makes every call with a request that breaks a rule. Other tests cover the rules themselves.
  @Test func `a request that Apple would refuse is not sent and uses no slot`() async throws {
    let exchange = ScriptedExchange(answer: ExchangeAnswer(status: 200))
    let client = try fixture.client(exchange)
    let id = APIFixture.transactionId
    let now = fixture.clock.wallTime
    let calls: [(String, () async throws(APIError) -> Void)] = [
      ("transactionId", { () async throws(APIError) in _ = try await client.getTransactionInfo("") }),
      ("anyTransactionId", { () async throws(APIError) in _ = try await client.getAppTransactionInfo("x/y") }),
      (
        "anyTransactionId",
        { () async throws(APIError) in
          for try await _ in client.getTransactionHistory("") {}
        }
      ),
      (
        "endDate",
        { () async throws(APIError) in
          let request = TransactionHistoryRequest(startDate: now, endDate: now - .seconds(1))
          for try await _ in client.getTransactionHistoryV1(id, request) {}
        }
      ),
      (
        "anyTransactionId",
        { () async throws(APIError) in
          for try await _ in client.getRefundHistory("1/2") {}
        }
      ),
      ("originalTransactionId", { () async throws(APIError) in _ = try await client.getRefundHistoryV1("") }),
      (
        "status",
        { () async throws(APIError) in
          let request = SubscriptionStatusesRequest(statuses: [Status(rawValue: 6)])
          _ = try await client.getAllSubscriptionStatuses(id, request)
        }
      ),
      (
        "appAccountToken",
        { () async throws(APIError) in
          let request = UpdateAppAccountTokenRequest(appAccountToken: "me")
          _ = try await client.setAppAccountToken(id, request, in: .production)
        }
      ),
      ("orderId", { () async throws(APIError) in _ = try await client.lookUpOrderId("") }),
      (
        "customerConsented",
        { () async throws(APIError) in
          let request = ConsumptionRequest(
            customerConsented: false, sampleContentProvided: false, deliveryStatus: .delivered)
          _ = try await client.sendConsumptionInformation(id, request, in: .production)
        }
      ),
      (
        "consumptionPercentage",
        { () async throws(APIError) in
          let request = ConsumptionRequest(
            customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered,
            consumptionPercentage: 50_000)
          _ = try await client.sendConsumptionInformation(
            id, request, productType: .autoRenewableSubscription, in: .production)
        }
      ),
      (
        "customerConsented",
        { () async throws(APIError) in
          let request = ConsumptionRequestV1(
            customerConsented: false, sampleContentProvided: false, deliveryStatus: DeliveryStatusV1(rawValue: 0))
          _ = try await client.sendConsumptionInformationV1(id, request, in: .production)
        }
      ),
      (
        "extendByDays",
        { () async throws(APIError) in
          let request = ExtendRenewalDateRequest(
            extendByDays: 91, extendReasonCode: .other, requestIdentifier: "x")
          _ = try await client.extendSubscriptionRenewalDate(id, request, in: .production)
        }
      ),
      (
        "requestIdentifier",
        { () async throws(APIError) in
          let request = MassExtendRenewalDateRequest(
            extendByDays: 1, extendReasonCode: .other, requestIdentifier: "x", productId: "p")
          _ = try await client.extendRenewalDateForAllActiveSubscribers(request, in: .production)
        }
      ),
      (
        "requestIdentifier",
        { () async throws(APIError) in
          _ = try await client.getStatusOfSubscriptionRenewalDateExtensions(
            productId: "p", requestIdentifier: "x", in: .production)
        }
      ),
      (
        "startDate",
        { () async throws(APIError) in
          let request = NotificationHistoryRequest(startDate: now - .seconds(31 * 86_400), endDate: now)
          for try await _ in client.getNotificationHistory(request, in: .sandbox) {}
        }
      ),
      (
        "testNotificationToken",
        { () async throws(APIError) in _ = try await client.getTestNotificationStatus("", in: .sandbox) }
      ),
      ("transactionId", { () async throws(APIError) in _ = try await client.finishTransaction("", in: .sandbox) }),
    ]
    for (index, (field, call)) in calls.enumerated() {
      let error = try #require(await apiError(of: call), "call \(index)")
      guard case .violation(let violations) = error.kind else {
        Issue.record("call \(index): \(error)")
        continue
      }
      #expect(violations.map(\.field).contains(field), "call \(index): \(error)")
      #expect(error.errorClass == .never)
      #expect(!error.isUnclear)
      #expect(client.delay(for: error.endpoint, in: error.environment) == .zero)
    }
    #expect(exchange.requests.isEmpty)
  }
}
