// Calls every endpoint of the client against the simulator over sockets. The two implement Apple's documentation
// independently.

import AppStore
import AppStoreSignature
import AppStoreSimulator
import MillraceTime
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct SimulatorEndpointsTests {
  private typealias Endpoint = APIEndpoint

  @Test func `every endpoint is called, and no rule of Apple's is broken`() async throws {
    try await SimulatedStore.running("server: { massExtension: { startDelay: 1m, duration: 10m, failureShare: 0 } }\n")
    {
      store in
      let client = try store.client()
      try await Self.transactions(store, client)
      try await Self.histories(store, client)
      try await Self.refunds(store, client)
      try await Self.extensions(store, client)
      try await Self.notifications(store, client)
      let report = store.simulator.report.api
      #expect(Set(report.asked.map(\.endpoint.rawValue)) == Set(Endpoint.allCases.map(\.rawValue)))
      #expect(report.broken.isEmpty, "\(report.broken)")
    }
  }

  private static func transactions(_ store: SimulatedStore, _ client: AppStoreServerClient) async throws {
    let id = try store.buy()
    let text = String(id)
    let info = try await client.getTransactionInfo(text)
    #expect(info.value.payload.transactionId == text && info.environment == .production)
    let app = try await client.getAppTransactionInfo(text)
    #expect(app.value.payload.bundleId == SimulatedStore.bundleId)
    let order = try await client.lookUpOrderId(store.order(of: id))
    #expect(order.value.status == .valid && order.value.transactions.map(\.payload.transactionId) == [text])
    let token = "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11"
    let request = UpdateAppAccountTokenRequest(appAccountToken: token)
    #expect(try await client.setAppAccountToken(text, request, in: .production).status == 200)
    #expect(try await client.getTransactionInfo(text).value.payload.appAccountToken == token)
    #expect(try await client.finishTransaction(text, in: .production).status == 200)
  }

  private static func histories(_ store: SimulatedStore, _ client: AppStoreServerClient) async throws {
    let id = try store.buy()
    for month in 1...24 {
      let now = store.clock.wallTime + .seconds(Int64(month) * 31 * 86_400)
      _ = try store.simulator.world.withState { state throws(WorldError) in try state.renew(id, at: now) }
    }
    var (transactions, pages) = (Set<String>(), 0)
    for try await page in client.getTransactionHistory(String(id)) {
      pages += 1
      transactions.formUnion(page.value.items.compactMap(\.payload.transactionId))
    }
    #expect(pages == 2 && transactions.count == 25)
    var older = 0
    for try await page in client.getTransactionHistoryV1(String(id)) { older += page.value.items.count }
    #expect(older == 25)
    let groups = try await client.getAllSubscriptionStatuses(String(id)).value
    let state = try #require(groups.first?.subscriptions.first)
    #expect(groups.count == 1 && state.status == .active)
    #expect(state.renewalInfo?.payload.originalTransactionId == String(id))
  }

  private static func refunds(_ store: SimulatedStore, _ client: AppStoreServerClient) async throws {
    let refunded = String(try store.refunded())
    var found: [String?] = []
    for try await page in client.getRefundHistory(refunded) { found += page.value.items.map(\.payload.transactionId) }
    #expect(found == [refunded])
    #expect(try await client.getRefundHistoryV1(refunded).value.map(\.payload.transactionId) == [refunded])
    let request = ConsumptionRequest(
      customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
    let disputed = String(try store.disputed())
    #expect(try await client.sendConsumptionInformation(disputed, request, in: .production).status == 202)
    let requestV1 = ConsumptionRequestV1(
      customerConsented: true, sampleContentProvided: false, deliveryStatus: DeliveryStatusV1(rawValue: 0))
    let other = String(try store.disputed())
    #expect(try await client.sendConsumptionInformationV1(other, requestV1, in: .production).status == 202)
  }

  private static func extensions(_ store: SimulatedStore, _ client: AppStoreServerClient) async throws {
    let id = try store.buy()
    let one = ExtendRenewalDateRequest(
      extendByDays: 7, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "campaign/1")
    let answer = try await client.extendSubscriptionRenewalDate(String(id), one, in: .production)
    #expect(answer.value.success == true && answer.value.originalTransactionId == String(id))
    let identifier = "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c12"
    let all = MassExtendRenewalDateRequest(
      extendByDays: 7, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: identifier,
      storefrontCountryCodes: nil, productId: SimulatedStore.monthly)
    let started = try await client.extendRenewalDateForAllActiveSubscribers(all, in: .production)
    #expect(started.value.requestIdentifier == identifier)
    // The simulation is another task, so it processes due events with a delay.
    store.manual.advance(by: .seconds(3_600))
    var status = try await client.getStatusOfSubscriptionRenewalDateExtensions(
      productId: SimulatedStore.monthly, requestIdentifier: identifier, in: .production)
    while status.value.complete != true {
      status = try await client.getStatusOfSubscriptionRenewalDateExtensions(
        productId: SimulatedStore.monthly, requestIdentifier: identifier, in: .production)
    }
    #expect(status.value.failedCount == 0)
    #expect(try #require(status.value.succeededCount) > 0)
  }

  private static func notifications(_ store: SimulatedStore, _ client: AppStoreServerClient) async throws {
    for _ in 0..<45 { _ = try store.buy(SimulatedStore.coins) }
    let token = try await client.requestTestNotification(in: .production).value
    var status: APIResponse<SentNotification>?
    while status == nil {
      do {
        status = try await client.getTestNotificationStatus(token, in: .production)
      } catch {
        // Apple has not sent it yet.
        guard error.code == .testNotificationNotFound else { throw error }
      }
    }
    #expect(status?.value.notification.payload.notificationType == .test)
    #expect(status?.value.sendAttempts.map(\.sendAttemptResult) == [.success])
    let now = store.clock.wallTime
    let request = NotificationHistoryRequest(startDate: now - .seconds(86_400), endDate: now + .seconds(1))
    var types: [NotificationTypeV2?] = []
    for try await page in client.getNotificationHistory(request, in: .production) {
      types += page.value.items.map(\.notification.payload.notificationType)
    }
    #expect(types.count { $0 == .oneTimeCharge } >= 45)
    #expect(types.count { $0 == .test } == 1)
  }

  @Test func `a transaction that production does not know is looked up in the sandbox`() async throws {
    try await SimulatedStore.running { store in
      let client = try store.client()
      let error = await apiError { () async throws(APIError) in try await client.getTransactionInfo("2000000000000042")
      }
      #expect(error?.code == .transactionIdNotFound)
      #expect(error?.environment == .sandbox && error?.alsoAsked == [.production])
      #expect(store.simulator.report.api.broken.isEmpty)
    }
  }
}
