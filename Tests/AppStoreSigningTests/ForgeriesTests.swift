// Tests the collection of forgeries. Other tests verify them.
import AppStore
import AppStoreSigning
import Testing

@Suite("Forgeries")
struct ForgeriesTests {
  private let date = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  @Test("labels are unique, and every refusal reason has a forgery")
  func coverage() throws {
    let forgeries = try Forgeries(chain: try SigningChain.generate(at: date), signedDate: date, seed: 11).all()
    #expect(Set(forgeries.map(\.label)).count == forgeries.count)
    let classes: Set<Forgery.Expectation> = [
      .refused("format"), .refused("algorithm"), .refused("chain-length"), .refused("certificate"), .refused("chain"),
      .refused("signature"), .refused("app-identifier"), .refused("environment"), .innerMismatch, .innerForged,
    ]
    #expect(Set(forgeries.map(\.expectation)) == classes)
  }
}
