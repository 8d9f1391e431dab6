import Testing

@testable import KafkaClient

@Suite struct StaticDepartureTests {
  private let start = ContinuousClock.now

  @Test func `a departure is over when the member has left`() {
    let departure = StaticDeparture(now: start, openRevocations: 0)
    #expect(!departure.isOver(isMember: true, now: start))
    #expect(departure.isOver(isMember: false, now: start))
  }

  @Test func `a departure waits for open revocations without a time limit`() {
    var departure = StaticDeparture(now: start, openRevocations: 1)
    departure.revoked()
    let late = start + .seconds(3_600)
    #expect(!departure.isOver(isMember: true, now: late))
    #expect(!departure.isOver(isMember: false, now: late))
    departure.handedOver(now: late)
    #expect(!departure.isOver(isMember: false, now: late))
    departure.handedOver(now: late)
    #expect(departure.isOver(isMember: false, now: late))
    #expect(!departure.isOver(isMember: true, now: late))
  }

  @Test func `a departure stops waiting for a group that does not answer`() {
    var departure = StaticDeparture(now: start, openRevocations: 0)
    #expect(!departure.isOver(isMember: true, now: start + StaticDeparture.limit - .milliseconds(1)))
    #expect(departure.isOver(isMember: true, now: start + StaticDeparture.limit))
    departure.revoked()
    departure.handedOver(now: start + StaticDeparture.limit)
    #expect(!departure.isOver(isMember: true, now: start + StaticDeparture.limit))
    #expect(departure.isOver(isMember: true, now: start + StaticDeparture.limit * 2))
  }
}
