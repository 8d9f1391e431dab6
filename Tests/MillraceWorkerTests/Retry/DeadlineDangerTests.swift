import AppStore
import Testing

@testable import MillraceWorker

@Suite struct DeadlineDangerTests {
  @Test func `danger is the last quarter before the deadline and is reported once`() {
    let (written, deadline) = (Timestamp.second(0), Timestamp.second(400))
    #expect(DeadlineDanger.beginning(written: written, deadline: deadline) == .second(300))
    func begins(_ now: Int64, _ next: Int64) -> Bool {
      DeadlineDanger.begins(after: .second(now), until: .second(next), written: written, deadline: deadline)
    }
    #expect(!begins(0, 299))
    #expect(begins(299, 300))
    #expect(begins(10, 390))
    #expect(!begins(300, 350), "already reported")
    #expect(!DeadlineDanger.hasBegun(at: .second(299), written: written, deadline: deadline))
    #expect(DeadlineDanger.hasBegun(at: .second(300), written: written, deadline: deadline))
  }

  @Test func `there is no danger without a deadline, and always danger with one before the record`() {
    #expect(!DeadlineDanger.begins(after: .second(0), until: .second(1), written: .second(0), deadline: nil))
    #expect(!DeadlineDanger.hasBegun(at: .second(9), written: .second(0), deadline: nil))
    #expect(DeadlineDanger.hasBegun(at: .second(9), written: .second(9), deadline: .second(5)))
  }
}
