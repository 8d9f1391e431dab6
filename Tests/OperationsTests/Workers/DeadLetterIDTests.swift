import Testing

@testable import Operations

@Suite struct DeadLetterIDTests {
  @Test func `an id is a lane and an offset, with or without the prefix that commands print`() throws {
    #expect(try DeadLetterID("3/17") == DeadLetterID(lane: 3, offset: 17))
    #expect(try DeadLetterID("dead-letters/3/17") == DeadLetterID(lane: 3, offset: 17))
    #expect("\(DeadLetterID(lane: 3, offset: 17))" == "3/17")
  }

  @Test(arguments: ["", "3", "3/", "/3", "-1/3", "3/-1", "3/1/2", "a/b", "dead-letters/3"])
  func `other text is refused`(_ text: String) {
    #expect(throws: OperationError.self) { try DeadLetterID(text) }
  }

  @Test func `a command's id is a UUID of version 4`() {
    let id = CommandID.new()
    let parts = id.split(separator: "-")
    #expect(parts.map(\.count) == [8, 4, 4, 4, 12] && parts[2].first == "4" && "89ab".contains(parts[3].prefix(1)))
    #expect(CommandID.new() != id)
  }
}
