import Testing

@testable import Ingress

@Suite struct InFlightLimitTests {
  private struct Failure: Error {}

  @Test func `there are as many places as allowed, and none beyond`() async {
    let limit = InFlightLimit(2)
    let inside = await limit.withPlace {
      await limit.withPlace { await limit.withPlace { "third" } ?? "refused" }
    }
    #expect(inside == "refused")
    #expect(limit.current == 0)
  }

  @Test func `a place is free again after a failure`() async {
    let limit = InFlightLimit(1)
    await #expect(throws: Failure.self) { try await limit.withPlace { throw Failure() } }
    #expect(await limit.withPlace { "next" } == "next")
  }
}
