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
  func `a success ends the attempts`(status: Int) {
    #expect(next(delivery, PostOutcome(status: status)) == nil)
  }

  @Test(arguments: [199, 207, 301, 304, 400, 404, 410, 500, 503])
  func `any other status is retried`(status: Int) {
    #expect(PostOutcome(status: status).result == .unsuccessfulHTTPResponseCode)
    #expect(next(delivery, PostOutcome(status: status))?.due == .newYear + .seconds(3_600))
  }

  @Test func `a failure is retried five times, each counted from the previous attempt, then Apple gives up`() {
    var delivery = delivery
    var waits: [Int64] = []
    while let following = next(delivery, PostOutcome(.timedOut)) {
      waits.append((following.due - .newYear).components.seconds / 3_600)
      delivery = following.delivery
    }
    #expect(waits == [1, 12, 24, 48, 72])
    #expect(next(self.delivery, PostOutcome(.timedOut), in: .sandbox) == nil)
  }

  @Test func `optionally a 4xx ends the retries, and a duplicate is never retried`() {
    #expect(next(delivery, PostOutcome(status: 404)) { $0.retriesAfterClientError = false } == nil)
    #expect(next(delivery, PostOutcome(status: 500)) { $0.retriesAfterClientError = false } != nil)
    var duplicate = delivery
    duplicate.isDuplicate = true
    #expect(next(duplicate, PostOutcome(status: 500)) == nil)
  }

  @Test func `each app has its own slots per environment, and a full lane delays no other`() {
    var lanes = DeliveryLanes(slots: 2)
    for sequence in 0..<Int64(5) { lanes.add(news(0, sequence), at: .newYear) }
    lanes.add(news(1, 0), at: .newYear + .seconds(1))
    let first = lanes.takeDue(by: .newYear)
    #expect(first == [news(0, 0), news(0, 1)])
    // The full lane does not affect the next due time.
    #expect(lanes.nextDue == .newYear + .seconds(1))
    let second = lanes.takeDue(by: .newYear + .seconds(1))
    #expect(second == [news(1, 0)])
    #expect(lanes.count == 6 && lanes.nextDue == nil)
    lanes.finish(news(0, 1))
    #expect(lanes.nextDue == .newYear)
    let third = lanes.takeDue(by: .newYear + .seconds(1))
    #expect(third == [news(0, 2)])
  }

  @Test func `first attempts for one subscription are sequential and in order`() {
    var lanes = DeliveryLanes(slots: 3)
    let same = (0..<Int64(4)).map { news(0, $0, about: 7) }
    for (delivery, seconds) in zip(same, [0, 1, 3, 4]) { lanes.add(delivery, at: .newYear + .seconds(seconds)) }
    lanes.add(news(0, 9, about: 8), at: .newYear + .seconds(5))
    let first = lanes.takeDue(by: .newYear + .seconds(1))
    #expect(first == [same[0]])
    lanes.finish(same[0])
    // The second was delayed at its time. The third became due before the second was sent.
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

  @Test func `retries and duplicates are not delayed`() {
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
