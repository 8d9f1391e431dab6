import Operations
import Testing

@Suite("Output")
struct OutputTests {
  @Test(
    "colour needs a capable terminal and a user who has not disabled it",
    arguments: [
      (true, [:], true),
      (false, [:], false),
      (true, ["NO_COLOR": "1"], false),
      (true, ["NO_COLOR": ""], true),
      (true, ["TERM": "dumb"], false),
      (true, ["TERM": "xterm-256color"], true),
    ] as [(Bool, [String: String], Bool)])
  func wantsColor(isTerminal: Bool, environment: [String: String], expected: Bool) {
    #expect(Output.wantsColor(isTerminal: isTerminal, environment: environment) == expected)
  }

  @Test("lines are written in one piece, each with its line feed")
  func lines() throws {
    let collected = CollectedOutput()
    try collected.output().lines(["one", "two"])
    try collected.output().lines([])
    #expect(collected.lines == ["one", "two"])
  }

  @Test("a closed output is an error for a result, but not for a remark")
  func closed() {
    #expect(throws: OperationError.self) { try CollectedOutput.closed.line("result") }
    CollectedOutput.closed.note("remark")
  }

  @Test("styles have no effect without colour")
  func styles() {
    for style in TextStyle.allCases {
      #expect(style.applied(to: "text", usesColor: false) == "text")
      #expect(style.applied(to: "", usesColor: true) == "")
    }
    #expect(TextStyle.red.applied(to: "text", usesColor: true) == "\u{1B}[31mtext\u{1B}[0m")
  }
}
