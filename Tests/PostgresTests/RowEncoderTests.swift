import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import TestEnvironment
import Testing

@testable import Postgres

/// A record of a topic.
func record(
  _ key: String?, _ value: String?, at offset: Int64 = 0, headers: [RecordHeader] = []
) -> ConsumerRecord {
  ConsumerRecord(
    topic: "topic", partition: 0, offset: offset, timestamp: 0, key: key.map { Array($0.utf8) },
    value: value.map { Array($0.utf8) }, headers: headers)
}

@Suite struct RowEncoderTests {
  private func text(_ json: JSON?, _ kind: TableDefinition.ColumnKind) -> String {
    var output: [UInt8] = []
    CopyText.append(json, kind, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  @Test func `values have the text form of COPY, and a value of another kind is null`() {
    #expect(text("a\tb\nc\\d\re", .text) == #"a\tb\nc\\d\re"#)
    #expect(text("zero\u{0}", .text) == "zero\u{FFFD}")
    #expect(text(12, .integer) == "12" && text("12", .integer) == #"\N"# && text(nil, .text) == #"\N"#)
    #expect(text(true, .boolean) == "t" && text(1, .boolean) == #"\N"#)
    #expect(text("2026-02-01T00:00:00.000Z", .time) == "2026-02-01T00:00:00.000Z")
    #expect(text("2026-02-30T00:00:00.000Z", .time) == #"\N"# && text("soon", .time) == #"\N"#)
  }

  @Test func `JSON loses what jsonb cannot store, and nothing else`() {
    #expect(
      text(["a\u{0}": ["x\u{0}y", .number("1e999999"), .null]], .json)
        == "{\"a\u{FFFD}\":[\"x\u{FFFD}y\",\"1e999999\",null]}")
    #expect(text(#"{"a":[1,2]}"#, .jsonText) == #"{"a":[1,2]}"# && text("not JSON", .jsonText) == #"\N"#)
    #expect(text(["quote": "\"\n"], .json) == #"{"quote":"\\"\\n"}"#)
  }

  @Test func `a record of another form is rejected with a reason`() {
    let encoder = RowEncoder(.of(.purchases))
    var output: [UInt8] = []
    #expect(throws: RowProblem.notJSON) { try encoder.append(record("1", "text"), to: &output) }
    #expect(throws: RowProblem.noKey) { try encoder.append(record("1", "{}"), to: &output) }
    #expect(throws: RowProblem.otherKey) { try encoder.append(record("1", #"{"transactionId":"2"}"#), to: &output) }
    #expect(throws: RowProblem.noId) { try RowEncoder(.of(.events)).append(record("1", "{}"), to: &output) }
  }

  @Test func `only the event of an erasure erases, and only from the worker whose topic has it`() {
    let encoder = RowEncoder(.of(.events))
    func erases(_ type: String, on topic: String = "eu.appstore.events.winback") -> Bool {
      var event = record("1", "{}", headers: [RecordHeader("ce_id", "e"), RecordHeader("ce_type", type)])
      event.topic = topic
      return encoder.erasedKey(of: event) == Array("1".utf8)
    }
    #expect(erases("dev.millrace.winback.customer.erased"))
    #expect(erases("dev.millrace.webhook-crm.customer.erased", on: "appstore.events.webhook-crm"))
    for type in [
      "dev.millrace.winback.crm.customer.erased", "dev.millrace.customer.erased", "dev.millrace..customer.erased",
      "com.example.customer.erased", "customer.erased", ".customer.erased", "dev.millrace.winback.customer.erased.late",
      "dev.millrace.winback.customer.erase", "dev.millrace.refunds.customer.erased", "",
    ] { #expect(!erases(type), "\(type)") }
  }

  @Test func `records in the wire format of a schema registry are read`() throws {
    var output: [UInt8] = []
    var framed = record("1", nil)
    framed.value = [0, 0, 0, 0, 7] + Array(#"{"transactionId":"1"}"#.utf8)
    try RowEncoder(.of(.purchases)).append(framed, to: &output)
    #expect(String(decoding: output, as: UTF8.self).contains("1"))
  }

  @Test func `the quick way and the parser make the same row of every record`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let values: [JSON] = [
      "plain text", "", "t\u{E4}xt", "a\\b", "quote\"", "tab\t", "2026-02-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z",
      "2026-01-31T23:59:59.999Z", "1969-01-01T00:00:00.000Z", "{\"a\":1}", .null, true, false, 0, 7, -12,
      .integer(.max),
      .integer(.min), .number("1.5"), .number("1e3"), [], [:], ["a": ["b", 1, .null]], [.number("1e999999")],
    ]
    var plain = 0
    for round in 0..<4_000 {
      let table = PostgresSettings.Table.allCases.filter { $0 != .events }[round % 5]
      let definition = TableDefinition.of(table)
      var row = JSONObject()
      for column in definition.columns.shuffled(using: &random).prefix(Int.random(in: 0...30, using: &random)) {
        // Half of the records have only values of the usual form.
        row[column.field] = round % 2 == 0 ? usual(column.kind) : values.randomElement(using: &random)
      }
      if let key = definition.key { row[key.field] = round % 7 == 0 ? nil : "key" }
      row["unknown"] = round % 3 == 0 ? values.randomElement(using: &random) : nil
      var bytes = row.serialized()
      if round % 11 == 0, let index = bytes.indices.randomElement(using: &random) {
        bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      if round % 13 == 0 { bytes = [0, 0, 0, 0, 9] + bytes }
      var made = record("key", nil)
      made.value = bytes
      let results = [true, false].map { readsPlainRows -> Result<[UInt8], RowProblem> in
        var output: [UInt8] = []
        do throws(RowProblem) {
          try RowEncoder(definition, readsPlainRows: readsPlainRows).append(made, to: &output)
          return .success(output)
        } catch { return .failure(error) }
      }
      #expect(results[0] == results[1], "seed \(seed), \(String(decoding: bytes, as: UTF8.self))")
      if bytes.withUnsafeBytes({ PlainRow($0, definition.columns.map { Array($0.field.utf8) }) }) != nil { plain += 1 }
    }
    #expect(plain > 1_000, "most usual records are read the quick way")
  }

  private func usual(_ kind: TableDefinition.ColumnKind) -> JSON {
    switch kind {
    case .text: "com.example.app"
    case .integer: 9_990
    case .boolean: true
    case .time: "2026-02-01T12:30:00.000Z"
    case .json: ["kind": "notification", "id": "x"]
    case .jsonText: .string("[]")
    }
  }

  @Test func `every field of a schema has a column`() throws {
    for definition in PostgresSettings.Table.allCases.map(TableDefinition.of) {
      guard let topic = definition.topic else { continue }
      guard case .object(let properties)? = try Project.json("topics/schemas/\(topic).schema.json")["properties"]
      else { return #expect(Bool(false)) }
      #expect(Set(properties.members.map(\.key)) == Set(definition.columns.map(\.field)), "\(topic)")
    }
    #expect(TableDefinition.Column.text("notificationUUID").name == "notification_uuid")
    #expect(TableDefinition.Column.text("appAppleId").name == "app_apple_id")
  }
}

@Suite struct PostgresMetricsTests {
  @Test func `docs/metrics.md has a row for every metric, with its help text`() throws {
    let rows = try Project.text("docs/metrics.md").split(separator: "\n")
      .filter { $0.hasPrefix("| `millrace_postgres_") }
    #expect(rows.count == PostgresMetrics.helpTexts.count)
    for (name, help) in PostgresMetrics.helpTexts {
      let row = try #require(rows.first { $0.hasPrefix("| `\(name)` |") }, "\(name)")
      #expect(row.contains("| \(help)"), "\(name)")
      #expect(row.contains("| counter |") == name.hasSuffix("_total"), "\(name)")
    }
  }
}
