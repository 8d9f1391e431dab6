import AppStore
import KafkaClient
import MillraceWorker
import TestEnvironment
import Testing

@testable import Operations

@Suite("Printing records")
struct RecordPrinterTests {
  private let records = (0..<5).map { offset in
    ConsumerRecord(
      topic: "appstore.notifications.tests", partition: 0, offset: Int64(offset), timestamp: 1_767_225_600_000,
      key: nil,
      value: nil)
  }

  @Test("the limit is exact, regardless of batches")
  func limit() async throws {
    let collected = CollectedOutput()
    let printer = RecordPrinter(collected.output(), asJSON: true, limit: 3)
    #expect(try await printer.print(Array(records[..<2])))
    #expect(try await !printer.print(Array(records[2...])))
    #expect(try await !printer.print(records))
    #expect(collected.lines.count == 3)
  }

  @Test("without a limit it prints one JSON object per line")
  func json() async throws {
    let collected = CollectedOutput()
    let printer = RecordPrinter(collected.output(), asJSON: true, limit: nil)
    #expect(try await printer.print(records))
    let offsets = try collected.lines.map { try JSONObject(parsing: Array($0.utf8)).integer("offset") }
    #expect(offsets == [0, 1, 2, 3, 4])
  }

  @Test("a table has its headings once")
  func table() async throws {
    let collected = CollectedOutput()
    let printer = RecordPrinter(collected.output(isTerminal: true), asJSON: false, limit: nil)
    _ = try await printer.print(Array(records[..<1]))
    _ = try await printer.print(Array(records[1...]))
    #expect(collected.lines.filter { $0.hasPrefix("SIGNED") }.count == 1)
    #expect(collected.lines.count == 6)
    #expect(collected.lines.last?.hasSuffix("tests[0]@4") == true)
  }

  @Test("a narrow terminal shows every field, on more lines")
  func narrow() async throws {
    let fixture = try Fixture()
    let record = try await fixture.record(v2: fixture.sample(.didRenew)).producerRecord.read()
    let collected = CollectedOutput()
    _ = try await RecordPrinter(collected.output(isTerminal: true, width: 60), asJSON: false, limit: nil).print([record]
    )
    #expect(collected.lines.allSatisfy { TerminalText.width($0) <= 60 })
    let text = collected.lines.joined()
    for cell in RecordView(record).row { #expect(text.contains(cell.text)) }
  }

  @Test("a closed output ends the printing")
  func closed() async throws {
    let printer = RecordPrinter(CollectedOutput.closed, asJSON: true, limit: nil)
    await #expect(throws: OperationError.self) { try await printer.print(records) }
  }
}
