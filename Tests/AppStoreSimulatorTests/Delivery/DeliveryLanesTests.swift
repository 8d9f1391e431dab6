import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct DeliveryLanesTests {
  private let delivery = Delivery(notification: NotificationID(realm: 0, sequence: 0), typeV1: nil)

  private func next(
    _ delivery: Delivery, _ outcome: PostOutcome, in environment: AppStoreEnvironment = .production,
    _ change: (inout DeliverySettings) -> Void = { _ in }
  ) -> (delivery: Delivery, due: Timestamp)? {
    var settings = DeliverySettings()
    change(&settings)
    return delivery.next(after: outcome, at: .newYear, in: environment, settings)
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

  @Test func `Each app has its slots in each environment, and a full lane keeps nobody else waiting`() {
    var lanes = DeliveryLanes(slots: 2)
    for sequence in 0..<Int64(5) { lanes.add(news(0, sequence), at: .newYear) }
    lanes.add(news(1, 0), at: .newYear + .seconds(1))
    let first = lanes.takeDue(by: .newYear)
    #expect(first == [news(0, 0), news(0, 1)])
    // The full lane is not what the next moment is about.
    #expect(lanes.nextDue == .newYear + .seconds(1))
    let second = lanes.takeDue(by: .newYear + .seconds(1))
    #expect(second == [news(1, 0)])
    #expect(lanes.count == 6 && lanes.nextDue == nil)
    lanes.finish(news(0, 1))
    #expect(lanes.nextDue == .newYear)
    let third = lanes.takeDue(by: .newYear + .seconds(1))
    #expect(third == [news(0, 2)])
  }

  @Test func `First attempts about one subscription go one after the other, in their order, whatever is due meanwhile`()
  {
    var lanes = DeliveryLanes(slots: 3)
    let same = (0..<Int64(4)).map { news(0, $0, about: 7) }
    for (delivery, seconds) in zip(same, [0, 1, 3, 4]) { lanes.add(delivery, at: .newYear + .seconds(seconds)) }
    lanes.add(news(0, 9, about: 8), at: .newYear + .seconds(5))
    let first = lanes.takeDue(by: .newYear + .seconds(1))
    #expect(first == [same[0]])
    lanes.finish(same[0])
    // The second was held at its time, the third is due before the second's turn came.
    let second = lanes.takeDue(by: .newYear + .seconds(5))
    #expect(second == [same[1], news(0, 9, about: 8)])
    for place in 1...2 {
      lanes.finish(same[place])
      let following = lanes.takeDue(by: .newYear + .seconds(5))
      #expect(following == [same[place + 1]])
    }
    lanes.finish(same[3])
    lanes.finish(news(0, 9, about: 8))
    #expect(lanes.count == 0)
  }

  @Test func `A retry and a duplicate wait for nobody`() {
    var lanes = DeliveryLanes(slots: 3)
    var retry = news(0, 1, about: 7)
    retry.attempts = 1
    var duplicate = news(0, 2, about: 7)
    duplicate.isDuplicate = true
    for delivery in [news(0, 0, about: 7), retry, duplicate] { lanes.add(delivery, at: .newYear) }
    let taken = lanes.takeDue(by: .newYear)
    #expect(taken.count == 3)
    for delivery in taken { lanes.finish(delivery) }
    #expect(lanes.count == 0)
  }

  private func news(_ realm: RealmID, _ sequence: Int64, about subject: Int64? = nil) -> Delivery {
    Delivery(notification: NotificationID(realm: realm, sequence: sequence), typeV1: nil, subject: subject)
  }
}
