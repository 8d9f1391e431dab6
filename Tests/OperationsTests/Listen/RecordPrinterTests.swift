import AppStore
import AppStoreSigning
import KafkaClient
import MillraceCore
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
    #expect(collected.lines.filter { $0.hasPrefix("TYPE") }.count == 1)
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

  @Test("payloads are printed only on request, in a pipe too")
  func payloads() async throws {
    let fixture = try Fixture()
    let record = try await fixture.record(v2: fixture.sample(.didRenew)).producerRecord.read()
    for (asJSON, withPayload) in [(true, false), (true, true), (false, false), (false, true)] {
      let collected = CollectedOutput()
      _ = try await RecordPrinter(collected.output(), asJSON: asJSON, limit: nil, withPayload: withPayload).print([
        record
      ])
      #expect(collected.lines.joined().contains("purchaseDate") == withPayload, "\(asJSON) \(withPayload)")
    }
  }

  @Test("the type, the key and the app select records, and only those count for the limit")
  func filtered() async throws {
    let fixture = try Fixture()
    let refund = try await fixture.record(v2: fixture.sample(.refund)).producerRecord.read()
    let test = try await fixture.record(v2: fixture.sample(.test)).producerRecord.read()
    func count(_ change: (inout RecordFilter) -> Void) async throws -> Int {
      var filter = RecordFilter()
      change(&filter)
      let collected = CollectedOutput()
      let printer = RecordPrinter(collected.output(), asJSON: true, limit: 2, filter: filter)
      _ = try await printer.print([test, refund, test, test, refund])
      return collected.lines.count
    }
    #expect(try await count { $0.types = ["REFUND"] } == 2)
    #expect(try await count { $0.types = ["EXPIRED", "TEST"] } == 2)
    #expect(try await count { $0.keys = [RecordView(refund).subject ?? ""] } == 2)
    #expect(try await count { $0.keys = ["7"] } == 0)
    #expect(try await count { $0.apps = [fixture.app.bundleId] } == 2)
    #expect(try await count { $0.apps = ["com.example.other"] } == 0)
  }

  @Test("an unknown type names the nearest, and workers of one's own publish events of any name")
  func types() throws {
    var filter = RecordFilter()
    var configuration = MillraceConfiguration()
    configuration.workers["refunds"] = WorkerEntry()
    for (type, nearest) in [("refund", "REFUND"), ("entitlement.revokd", "entitlement.revoked")] {
      filter.types = [type]
      let error = #expect(throws: OperationError.self) { try filter.check(in: configuration) }
      #expect(error?.remedy.contains(nearest) == true && error?.place == "--type", "\(String(describing: error))")
    }
    filter.types = ["REFUND", "entitlement.revoked", "customer.erased"]
    try filter.check(in: configuration)
    filter.types = ["winback.sent"]
    #expect(throws: OperationError.self) { try filter.check(in: configuration) }
    configuration.workers["winback"] = WorkerEntry()
    try filter.check(in: configuration)
  }

  @Test("a closed output ends the printing")
  func closed() async throws {
    let printer = RecordPrinter(CollectedOutput.closed, asJSON: true, limit: nil)
    await #expect(throws: OperationError.self) { try await printer.print(records) }
  }
}
