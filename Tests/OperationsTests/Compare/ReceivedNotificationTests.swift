import AppStore
import AppStoreSigning
import MillraceWorker
import Testing

@testable import Operations

@Suite struct ReceivedNotificationTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test func `a posted body, its token and its id are the same notification`() async throws {
    let sample = try fixture.sample(.refund)
    let record = try await fixture.record(v2: sample)
    let body = try ReceivedNotification(line: sample.body)
    #expect(body == ReceivedNotification(id: record.event.id, bytes: record.value))
    #expect(try ReceivedNotification(line: Array("  ".utf8) + sample.jws + Array(" \r".utf8)) == body)
    #expect(try ReceivedNotification(line: Array(record.event.id.uppercased().utf8)).id == record.event.id)
  }

  @Test func `a version 1 body is the same with and without its password`() throws {
    let body = fixture.sampleV1(.didRenew)
    let record = try fixture.record(v1: body)
    #expect(try ReceivedNotification(line: body) == ReceivedNotification(id: record.event.id, bytes: record.value))
    #expect(try ReceivedNotification(line: record.value).id == record.event.id)
  }

  @Test(arguments: ["{", "{}", "a.b.c", "two words", "\u{7f}", "{\"signedPayload\":\"x\"}"])
  func `other lines are refused`(line: String) {
    #expect(throws: OperationError.self) { try ReceivedNotification(line: line.utf8) }
  }

  @Test func `the error names the unreadable line, and empty lines are skipped`() throws {
    let text = Array("one\n\n  \r\ntwo\n".utf8)
    #expect(try CompareOperation.received(text, file: "f").map(\.id) == ["one", "two"])
    let error = #expect(throws: OperationError.self) {
      try CompareOperation.received(Array("one\n\n{\n".utf8), file: "f")
    }
    #expect(error?.place == "f:3")
  }
}
