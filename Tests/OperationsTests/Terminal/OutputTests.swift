import Operations
import Testing

@Suite("Output")
struct OutputTests {
  @Test(
    "colour is for terminals that know it and people who have not said no",
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

  @Test("lines go out in one piece, each with its line feed")
  func lines() throws {
    let collected = CollectedOutput()
    try collected.output().lines(["one", "two"])
    try collected.output().lines([])
    #expect(collected.lines == ["one", "two"])
  }

  @Test("a reader that is gone ends a result, not a remark")
  func closed() {
    #expect(throws: OperationError.self) { try CollectedOutput.closed.line("result") }
    CollectedOutput.closed.note("remark")
  }

  @Test("styles leave text alone where colour is not wanted")
  func styles() {
    for style in TextStyle.allCases {
      #expect(style.applied(to: "text", usesColor: false) == "text")
      #expect(style.applied(to: "", usesColor: true) == "")
    }
    #expect(TextStyle.red.applied(to: "text", usesColor: true) == "\u{1B}[31mtext\u{1B}[0m")
  }
}
