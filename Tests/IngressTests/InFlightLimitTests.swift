import Testing

@testable import Ingress

@Suite struct InFlightLimitTests {
  private struct Failure: Error {}

  @Test func `requests beyond the limit are refused`() async {
    let limit = InFlightLimit(2)
    let inside = await limit.withPlace {
      await limit.withPlace { await limit.withPlace { "third" } ?? "refused" }
    }
    #expect(inside == "refused")
    #expect(limit.current == 0)
  }

  @Test func `a request that throws releases its place`() async {
    let limit = InFlightLimit(1)
    await #expect(throws: Failure.self) { try await limit.withPlace { throw Failure() } }
    #expect(await limit.withPlace { "next" } == "next")
  }
}
