import Operations
import Testing

@Suite("Confirmation before a change")
struct ApprovalTests {
  @Test(
    "only an explicit yes confirms",
    arguments: [
      ("y", .granted), ("YES", .granted), (" yes ", .granted), ("n", .declined), ("", .declined), ("yeah", .declined),
      (nil, .declined),
    ] as [(String?, Approval)])
  func answers(answer: String?, expected: Approval) throws {
    let approval = try Approval.of(isGiven: false, canAsk: true, question: "Apply 2 changes?") { question in
      #expect(question == "Apply 2 changes? [y/N] ")
      return answer
    }
    #expect(approval == expected)
  }

  @Test(
    "a change that is easily a mistake needs its word",
    arguments: [("p", true), (" p\n", true), ("yes", false), (nil, false)])
  func word(answer: String?, isGranted: Bool) throws {
    let approval = try Approval.of(isGiven: false, canAsk: true, question: "Adopt it?", typing: "p") { question in
      #expect(question == "Adopt it? Type p to go on: ")
      return answer
    }
    #expect((approval == .granted) == isGranted)
    #expect(throws: OperationError.self) {
      try Approval.of(isGiven: false, canAsk: false, question: "?", typing: "p") { _ in "p" }
    }
  }

  @Test("--yes skips the prompt")
  func given() throws {
    let approval = try Approval.of(isGiven: true, canAsk: false, question: "?") { _ in
      Issue.record("asked")
      return nil
    }
    #expect(approval == .granted)
  }

  @Test("without a terminal it refuses to prompt and names --yes")
  func nobody() throws {
    let error = try #require(throws: OperationError.self) {
      try Approval.of(isGiven: false, canAsk: false, question: "?") { _ in "yes" }
    }
    #expect(error.kind == .usage && error.place == "--yes")
  }
}
