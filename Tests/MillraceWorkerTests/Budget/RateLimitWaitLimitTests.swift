import Testing

@testable import MillraceWorker

@Suite struct RateLimitWaitLimitTests {
  @Test(
    arguments: [
      // A new record: five seconds. A returning record: another delay would take at least the shortest retry delay.
      (false, 10, nil, 5), (true, 10, nil, 10), (true, 1, nil, 5), (true, 60, nil, 15),
      // A distant deadline changes nothing. If no retry delay ends before the deadline, the record waits until then.
      (false, 10, 15, 5), (false, 10, 14, 14), (true, 10, 20, 10), (true, 10, 19, 19), (false, 10, -3, 0),
    ] as [(Bool, Int64, Int64?, Int64)])
  func `the limit of a wait in the lane`(isReturning: Bool, shortest: Int64, left: Int64?, limit: Int64) {
    #expect(
      RateLimitWaitLimit.limit(
        isReturning: isReturning, shortestDelay: .seconds(shortest), left: left.map { .seconds($0) })
        == .seconds(limit))
  }
}
