// Tests the cache of revocation answers without a clock or network.
import AppStore
@testable import AppStoreSignature
import Testing

@Suite("Revocation memory")
struct RevocationMemoryTests {
  private func chain(_ number: UInt8) -> CertificateChain {
    CertificateChain(leaf: [number], intermediate: [], root: [])
  }

  private func name(_ answer: RevocationMemory<Int>.Answer) -> String {
    switch answer {
    case .known(let status): "known \(status)"
    case .join(let flight): "join \(flight)"
    case .ask: "ask"
    }
  }

  @Test("one caller asks, others join, and all use the answer until it expires")
  func lifeOfAnAnswer() {
    var memory = RevocationMemory<Int>(capacity: 4)
    #expect(name(memory.answer(for: chain(1), now: testDate)) == "ask")
    memory.begin(7, for: chain(1))
    #expect(name(memory.answer(for: chain(1), now: testDate)) == "join 7")
    memory.finish(chain(1), .good, until: testDate + .seconds(10))
    #expect(name(memory.answer(for: chain(1), now: testDate + .milliseconds(9_999))) == "known good")
    #expect(name(memory.answer(for: chain(1), now: testDate + .seconds(10))) == "ask")
  }

  @Test("a full cache drops the answer that expires first, and never a request in progress")
  func bounded() {
    var memory = RevocationMemory<Int>(capacity: 2)
    memory.finish(chain(1), .good, until: testDate + .seconds(30))
    memory.finish(chain(2), .good, until: testDate + .seconds(20))
    memory.begin(1, for: chain(3))
    #expect(memory.count == 2)
    #expect(name(memory.answer(for: chain(1), now: testDate)) == "known good")
    #expect(name(memory.answer(for: chain(2), now: testDate)) == "ask")
    #expect(name(memory.answer(for: chain(3), now: testDate)) == "join 1")
  }
}
