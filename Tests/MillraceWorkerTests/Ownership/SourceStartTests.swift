import Testing

@testable import MillraceWorker

@Suite struct SourceStartTests {
  @Test(
    arguments: [
      // committed, oldest, end, whether a new group starts at the end, start
      (nil, 0, 0, false, SourceStart.at(0)),
      (nil, 5, 9, false, .at(5)),
      (nil, 5, 9, true, .at(9)),
      (5, 5, 9, false, .at(5)),
      (7, 5, 9, true, .at(7)),
      (9, 5, 9, false, .at(9)),
      (9, 9, 9, false, .at(9)),
      (0, 0, 0, false, .at(0)),
      (4, 5, 9, false, .behind(4..<5)),
      (0, 9, 9, false, .behind(0..<9)),
      (10, 5, 9, false, .beyondEnd(committed: 10, end: 9)),
      (1, 0, 0, true, .beyondEnd(committed: 1, end: 0)),
    ] as [(Int64?, Int64, Int64, Bool, SourceStart)])
  func `a source starts at the committed offset if the log still has it`(
    _ committed: Int64?, _ oldest: Int64, _ end: Int64, _ isAtEnd: Bool, _ expected: SourceStart
  ) {
    #expect(SourceStart(committed: committed, available: oldest..<end, isAtEnd: isAtEnd) == expected)
  }
}
