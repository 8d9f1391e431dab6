import Testing

@testable import Millrace

@Suite struct TurnWaitTests {
  @Test(
    arguments: [
      // New: five seconds. From a tier: being sent away again would cost the shortest tier at least.
      (false, 10, nil, 5), (true, 10, nil, 10), (true, 1, nil, 5), (true, 60, nil, 15),
      // Far from its deadline nothing changes; where no tier ends before it, it stays as long as there is.
      (false, 10, 15, 5), (false, 10, 14, 14), (true, 10, 20, 10), (true, 10, 19, 19), (false, 10, -3, 0),
    ] as [(Bool, Int64, Int64?, Int64)])
  func `how long a record waits inside its lane`(isReturning: Bool, shortest: Int64, left: Int64?, limit: Int64) {
    #expect(
      TurnWait.limit(isReturning: isReturning, shortestDelay: .seconds(shortest), left: left.map { .seconds($0) })
        == .seconds(limit))
  }
}
