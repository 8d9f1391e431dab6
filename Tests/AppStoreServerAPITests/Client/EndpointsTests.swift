// Compares every endpoint of the client with Apple's list of paths and methods, and reads its response.

import AppStore
import AppStoreSignature
import MillraceTime
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite struct EndpointsTests {
  private let fixture: APIFixture
  private static let id = APIFixture.transactionId
  private static let original = APIFixture.originalTransactionId
  private static let uuid = "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11"

  init() throws { fixture = try APIFixture() }

  /// Calls an endpoint as an application does, and returns a word that identifies the response.
  private func call(_ endpoint: APIEndpoint, _ client: AppStoreServerClient) async throws(APIError) -> String {
    let now = fixture.clock.wallTime
    switch endpoint {
    case .getAppTransactionInfo:
      return try await client.getAppTransactionInfo(Self.id, in: .production).value.payload.bundleId ?? ""
    case .getTransactionInfo:
      return try await client.getTransactionInfo(Self.id, in: .production).value.payload.transactionId ?? ""
    case .getTransactionHistory:
      var pages = client.getTransactionHistory(Self.id, in: .production).makeAsyncIterator()
      return try await pages.next()?.value.items.first?.payload.transactionId ?? ""
    case .getTransactionHistoryV1:
      var pages = client.getTransactionHistoryV1(Self.id, in: .production).makeAsyncIterator()
      return try await pages.next()?.value.items.first?.payload.transactionId ?? ""
    case .getAllSubscriptionStatuses:
      let groups = try await client.getAllSubscriptionStatuses(Self.id, in: .production).value
      let state = groups.first?.subscriptions.first
      return "\(state?.status?.rawValue ?? 0) \(state?.transaction?.payload.transactionId ?? "") "
        + "\(state?.renewalInfo?.payload.originalTransactionId ?? "")"
    case .setAppAccountToken:
      let request = UpdateAppAccountTokenRequest(appAccountToken: Self.uuid)
      return "\(try await client.setAppAccountToken(Self.original, request, in: .production).status)"
    case .lookUpOrderId:
      let order = try await client.lookUpOrderId("MABCDEFGHI").value
      return "\(order.status.rawValue) \(order.transactions.first?.payload.transactionId ?? "")"
    case .sendConsumptionInformation:
      let request = ConsumptionRequest(
        customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
      return "\(try await client.sendConsumptionInformation(Self.id, request, in: .production).status)"
    case .sendConsumptionInformationV1:
      return
        "\(try await client.sendConsumptionInformationV1(Self.id, Self.consumptionV1, in: .production).status)"
    case .getRefundHistory:
      var pages = client.getRefundHistory(Self.id, in: .production).makeAsyncIterator()
      return try await pages.next()?.value.items.first?.payload.transactionId ?? ""
    case .getRefundHistoryV1:
      let refunds = try await client.getRefundHistoryV1(Self.original, in: .production).value
      return refunds.first?.payload.transactionId ?? ""
    case .extendSubscriptionRenewalDate:
      let request = ExtendRenewalDateRequest(
        extendByDays: 7, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "campaign/1")
      let answer = try await client.extendSubscriptionRenewalDate(Self.original, request, in: .production)
      return "\(answer.value.success ?? false)"
    case .massExtendRenewalDate:
      let request = MassExtendRenewalDateRequest(
        extendByDays: 7, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: Self.uuid,
        storefrontCountryCodes: nil, productId: "premium")
      let answer = try await client.extendRenewalDateForAllActiveSubscribers(request, in: .production)
      return answer.value.requestIdentifier ?? ""
    case .getMassExtendStatus:
      let answer = try await client.getStatusOfSubscriptionRenewalDateExtensions(
        productId: "premium", requestIdentifier: Self.uuid, in: .production)
      return "\(answer.value.succeededCount ?? 0)"
    case .getNotificationHistory:
      let request = NotificationHistoryRequest(startDate: now - .seconds(86_400), endDate: now)
      var pages = client.getNotificationHistory(request, in: .production).makeAsyncIterator()
      let item = try await pages.next()?.value.items.first
      return "\(item?.notification.payload.notificationType?.rawValue ?? "") \(item?.sendAttempts.count ?? 0)"
    case .requestTestNotification:
      return try await client.requestTestNotification(in: .production).value
    case .getTestNotificationStatus:
      let answer = try await client.getTestNotificationStatus("token_1", in: .production)
      return answer.value.notification.payload.notificationType?.rawValue ?? ""
    case .finishTransaction:
      return "\(try await client.finishTransaction(Self.id, in: .production).status)"
    }
  }

  private static let consumptionV1 = ConsumptionRequestV1(
    customerConsented: true, sampleContentProvided: false, deliveryStatus: DeliveryStatusV1(rawValue: 0))

  /// Apple's response, and the word that ``call(_:_:)`` returns for it.
  private func answer(_ endpoint: APIEndpoint) throws -> (ExchangeAnswer, String) {
    let transaction = JSON.string(try fixture.transaction())
    let attempt: JSON = ["attemptDate": 1_767_225_600_000, "sendAttemptResult": "SUCCESS"]
    switch endpoint {
    case .getAppTransactionInfo:
      return (.json(200, ["signedAppTransactionInfo": .string(try fixture.appTransaction())]), APIFixture.bundleId)
    case .getTransactionInfo: return (.json(200, ["signedTransactionInfo": transaction]), Self.id)
    case .getTransactionHistory, .getTransactionHistoryV1, .getRefundHistory:
      return (.json(200, ["signedTransactions": [transaction], "revision": "r1", "hasMore": false]), Self.id)
    case .getAllSubscriptionStatuses:
      let last: JSON = [
        "originalTransactionId": .string(Self.original), "status": 1, "signedTransactionInfo": transaction,
        "signedRenewalInfo": .string(try fixture.renewalInfo()),
      ]
      let group: JSON = ["subscriptionGroupIdentifier": "1", "lastTransactions": [last]]
      return (.json(200, ["environment": "Production", "data": [group]]), "1 \(Self.id) \(Self.original)")
    case .lookUpOrderId: return (.json(200, ["status": 0, "signedTransactions": [transaction]]), "0 \(Self.id)")
    case .getRefundHistoryV1: return (.json(200, ["signedTransactions": [transaction]]), Self.id)
    case .extendSubscriptionRenewalDate:
      return (.json(200, ["originalTransactionId": .string(Self.original), "success": true]), "true")
    case .massExtendRenewalDate: return (.json(200, ["requestIdentifier": .string(Self.uuid)]), Self.uuid)
    case .getMassExtendStatus:
      return (.json(200, ["complete": true, "succeededCount": 30, "failedCount": 2]), "30")
    case .getNotificationHistory:
      let item: JSON = ["signedPayload": .string(try fixture.notification()), "sendAttempts": [attempt, attempt]]
      return (.json(200, ["notificationHistory": [item], "hasMore": false]), "DID_RENEW 2")
    case .requestTestNotification: return (.json(200, ["testNotificationToken": "token_1"]), "token_1")
    case .getTestNotificationStatus:
      let status: JSONObject = ["signedPayload": .string(try fixture.notification()), "sendAttempts": [attempt]]
      return (.json(200, status), "DID_RENEW")
    case .setAppAccountToken, .finishTransaction: return (ExchangeAnswer(status: 200), "200")
    // Apple documents no body. Any body is ignored, even a truncated one.
    case .sendConsumptionInformation: return (ExchangeAnswer(status: 202, isComplete: false), "202")
    case .sendConsumptionInformationV1: return (.html(202), "202")
    }
  }

  @Test(arguments: APIEndpoint.allCases)
  func `a response is read, and the request has token, method and body`(endpoint: APIEndpoint) async throws {
    let (answer, expected) = try answer(endpoint)
    let exchange = ScriptedExchange(answer: answer)
    #expect(try await call(endpoint, try fixture.client(exchange)) == expected)
    let request = try #require(exchange.requests.first)
    #expect(exchange.requests.count == 1)
    #expect(request.method == endpoint.method)
    #expect(request.url.hasPrefix("https://api.storekit.apple.com/inApps/v"))
    #expect(request.token?.split(separator: ".").count == 3)
    #expect(request.headers["traceparent"] == nil)
    #expect((request.body != nil) == (request.headers["Content-Type"] == "application/json"))
  }

  @Test(
    .enabled(if: SharedMaterial.isPresent, "../shared is absent"), arguments: APIEndpoint.allCases)
  func `path, method and body match Apple's list`(endpoint: APIEndpoint) async throws {
    let facts = try SharedMaterial.json("app-store-facts/endpoints.json").objects("endpoints")
    let fact = try #require(facts.first { $0.string("name") == endpoint.rawValue })
    let exchange = ScriptedExchange(answer: try answer(endpoint).0)
    _ = try await call(endpoint, try fixture.client(exchange))
    let request = try #require(exchange.requests.first)
    #expect(request.method.rawValue == fact.string("method"))
    #expect((request.body != nil) == (fact.string("requestBody") != nil))
    var path = try #require(fact.string("path"))
    for (name, value) in [
      ("anyTransactionId", Self.id), ("transactionId", Self.id), ("originalTransactionId", Self.original),
      ("orderId", "MABCDEFGHI"), ("productId", "premium"), ("requestIdentifier", Self.uuid),
      ("testNotificationToken", "token_1"),
    ] { path = path.replacing("{\(name)}", with: value) }
    #expect(request.target == path)
  }

  @Test func `there is an endpoint for each of the seventeen, and for finishing a transaction`() throws {
    #expect(APIEndpoint.allCases.count == 18)
    #expect(Set(APIEndpoint.allCases.map(\.documentation)).count == 18)
  }

  @Test func `untrusted identifiers cannot leave their place in the path`() async throws {
    let exchange = ScriptedExchange(answer: try answer(.lookUpOrderId).0)
    let client = try fixture.client(exchange)
    _ = try await client.lookUpOrderId("M?a=b&c#d%2F é")
    #expect(exchange.requests.first?.target == "/inApps/v1/lookup/M%3Fa%3Db%26c%23d%252F%20%C3%A9")
    let error = await apiError { () async throws(APIError) in try await client.getTransactionInfo("../../x") }
    #expect(error.map { if case .violation = $0.kind { true } else { false } } == true)
    #expect(exchange.requests.count == 1)
  }

  @Test(arguments: ["", "../", "..", "1/2", String(repeating: "1", count: 10_000)])
  func `a transaction id that cannot be a segment of a path is refused before the call`(id: String) async throws {
    let exchange = ScriptedExchange(answer: .error(4_040_010))
    let client = try fixture.client(exchange)
    var errors: [APIError?] = []
    errors.append(await apiError { () async throws(APIError) in try await client.getTransactionInfo(id) })
    errors.append(await apiError { () async throws(APIError) in try await client.getAppTransactionInfo(id) })
    errors.append(await apiError { () async throws(APIError) in try await client.getAllSubscriptionStatuses(id) })
    errors.append(
      await apiError { () async throws(APIError) in try await client.finishTransaction(id, in: .production) })
    for error in errors {
      #expect(error.map { if case .violation = $0.kind { true } else { false } } == true, "\(error as Any)")
    }
    #expect(exchange.requests.isEmpty)
  }

  @Test func `an escaped slash in a transaction id stays text`() async throws {
    let exchange = ScriptedExchange(answer: .error(4_040_010))
    let client = try fixture.client(exchange)
    _ = await apiError { () async throws(APIError) in try await client.getTransactionInfo("1%2f..", in: .production) }
    #expect(exchange.requests.first?.target == "/inApps/v1/transactions/1%252f..")
  }
}
