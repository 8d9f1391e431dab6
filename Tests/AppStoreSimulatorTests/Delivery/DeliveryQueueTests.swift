import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct DeliveryQueueTests {
  private let delivery = Delivery(notification: NotificationID(realm: 0, sequence: 0), typeV1: nil)

  private func next(
    _ delivery: Delivery, _ outcome: PostOutcome, in environment: AppStoreEnvironment = .production,
    _ change: (inout DeliverySettings) -> Void = { _ in }
  ) -> (delivery: Delivery, due: Timestamp)? {
    var settings = DeliverySettings()
    change(&settings)
    return DeliveryQueue.next(
      after: delivery, outcome: outcome, at: .newYear, version: .v2, environment: environment, settings: settings)
  }

  @Test(arguments: [200, 201, 202, 203, 204, 205, 206])
  func `Nothing follows a success`(status: Int) {
    #expect(next(delivery, PostOutcome(status: status)) == nil)
  }

  @Test(arguments: [199, 207, 301, 304, 400, 404, 410, 500, 503])
  func `Everything else is tried again`(status: Int) {
    #expect(PostOutcome(status: status).result == .unsuccessfulHTTPResponseCode)
    #expect(next(delivery, PostOutcome(status: status))?.due == .newYear + .seconds(3_600))
  }

  @Test func `Five retries follow a failure, each counted from the attempt before, then Apple gives up`() {
    var delivery = delivery
    var waits: [Int64] = []
    while let following = next(delivery, PostOutcome(.timedOut)) {
      waits.append((following.due - .newYear).components.seconds / 3_600)
      delivery = following.delivery
    }
    #expect(waits == [1, 12, 24, 48, 72])
    #expect(next(self.delivery, PostOutcome(.timedOut), in: .sandbox) == nil)
  }

  @Test func `On request an answer of the 400s ends it, and a duplicate is never tried again`() {
    #expect(next(delivery, PostOutcome(status: 404)) { $0.retriesAfterClientError = false } == nil)
    #expect(next(delivery, PostOutcome(status: 500)) { $0.retriesAfterClientError = false } != nil)
    var duplicate = delivery
    duplicate.isDuplicate = true
    #expect(next(duplicate, PostOutcome(status: 500)) == nil)
  }
}
