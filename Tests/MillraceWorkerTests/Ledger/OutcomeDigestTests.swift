import Testing

@testable import MillraceWorker

@Suite struct OutcomeDigestTests {
  private func digest(_ parts: [[UInt8]?]) -> UInt32 {
    var digest = OutcomeDigest()
    for part in parts { digest.add(part ?? [], isPresent: part != nil) }
    return digest.value
  }

  @Test func `equal parts have equal digests, and the algorithm is fixed`() {
    #expect(digest([[1, 2], nil]) == digest([[1, 2], nil]))
    #expect(digest([]) == 0x4FD0_BFC1)
  }

  @Test func `the boundaries between parts change the digest`() {
    let outcomes: [[[UInt8]?]] = [[], [[]], [nil], [[1, 2]], [[1], [2]], [[1, 2], []], [[2, 1]], [[1, 2], nil]]
    #expect(Set(outcomes.map { digest($0) }).count == outcomes.count)
  }
}
