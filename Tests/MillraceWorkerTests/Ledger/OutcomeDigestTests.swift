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

  @Test func `a delivery has its status in the digest, and compares as an outcome without events`() {
    let empty = OutcomeDigest().value
    for status in [100, 200, 204, 599] {
      #expect(OutcomeDigest.status(of: OutcomeDigest.delivery(status)) == status)
      #expect(OutcomeDigest.compared(OutcomeDigest.delivery(status)) == empty)
    }
    for status in [-1, 0, 99, 600, Int.max] { #expect(OutcomeDigest.delivery(status) == empty) }
    #expect(OutcomeDigest.status(of: empty) == nil && OutcomeDigest.compared(7) == 7)
    let plan = OutcomePlan(ending: .done, digest: OutcomeDigest.delivery(200))
    #expect(plan.isUnchanged(replacing: empty) && plan.isUnchanged(replacing: OutcomeDigest.delivery(204)))
    #expect(!plan.isUnchanged(replacing: nil) && !plan.isUnchanged(replacing: 7))
  }

  @Test func `the boundaries between parts change the digest`() {
    let outcomes: [[[UInt8]?]] = [[], [[]], [nil], [[1, 2]], [[1], [2]], [[1, 2], []], [[2, 1]], [[1, 2], nil]]
    #expect(Set(outcomes.map { digest($0) }).count == outcomes.count)
  }
}
