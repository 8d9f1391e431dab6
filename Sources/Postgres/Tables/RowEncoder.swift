// Turns records into rows in the text format of COPY. PostgreSQL never refuses a row that this file made: one such row
// would fail the whole transaction.
// https://www.postgresql.org/docs/current/sql-copy.html

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

/// The reason why a record is not a row.
enum RowProblem: String, Error, Sendable {
  case notJSON = "the value is not a JSON object"
  case noKey = "the key field is absent or is not a text"
  case otherKey = "the record's key and the key in its value differ"
  case noId = "the record has no ce_id or ce_type"
  case tooLong = "a text has more than 1000 bytes"
}

/// Encodes the records of one table.
struct RowEncoder: Sendable {
  private let definition: TableDefinition
  private let slots: [String: Int]
  private let keySlot: Int?
  private let fields: [[UInt8]]
  private let readsPlainRows: Bool

  /// - Parameter readsPlainRows: Whether records in the usual form are read without the parser.
  init(_ definition: TableDefinition, readsPlainRows: Bool = true) {
    fields = definition.columns.map { Array($0.field.utf8) }
    self.readsPlainRows = readsPlainRows && definition.table != .events
    self.definition = definition
    let slots = Dictionary(uniqueKeysWithValues: definition.columns.enumerated().map { ($1.field, $0) })
    keySlot = definition.key.flatMap { slots[$0.field] }
    self.slots = slots
  }

  /// Returns the customer whose rows a record erases from a table without a key; nil for a row.
  func erasedKey(of record: ConsumerRecord) -> [UInt8]? {
    guard definition.key == nil, let key = record.key else { return nil }
    guard definition.table == .events else { return record.value == nil ? key : nil }
    guard let type = record.headers.last(where: { $0.name == "ce_type" })?.value,
      let worker = ErasureEvent.worker(ofType: type),
      // A worker erases what it has published, and nothing of other workers.
      record.topic.utf8.split(separator: UInt8(ascii: ".")).last?.elementsEqual(worker) == true
    else { return nil }
    return key
  }

  /// Appends the row of a record. Of a record without a value, the caller deletes the row.
  func append(_ record: ConsumerRecord, to output: inout [UInt8]) throws(RowProblem) {
    if readsPlainRows, let value = record.value, appendPlain(record.key, value, to: &output) { return }
    guard let value = record.value, let object = Self.object(value) else { throw .notJSON }
    if definition.table == .events { return try appendEvent(record, value, object, to: &output) }
    var values = [JSON?](repeating: nil, count: definition.columns.count)
    for member in object.members {
      if let slot = slots[member.key] { values[slot] = member.value }
    }
    if let keySlot {
      guard case .string(let key)? = values[keySlot], !key.isEmpty else { throw .noKey }
      guard let recordKey = record.key, key.utf8.elementsEqual(recordKey) else { throw .otherKey }
    }
    try append(values, to: &output)
  }

  /// The longest text of a column, in bytes. An index stores no text above 2,700 bytes.
  private static let longestText = 1_000

  private func append(_ values: [JSON?], to output: inout [UInt8]) throws(RowProblem) {
    for (index, column) in definition.columns.enumerated() where column.kind == .text {
      if case .string(let text)? = values[index], text.utf8.count > Self.longestText { throw .tooLong }
    }
    for (index, column) in definition.columns.enumerated() {
      if index > 0 { output.append(UInt8(ascii: "\t")) }
      CopyText.append(values[index], column.kind, to: &output)
    }
    output.append(UInt8(ascii: "\n"))
  }

  /// Appends the row of a record that has the usual form; false if it has another, which the parser reads.
  private func appendPlain(_ recordKey: [UInt8]?, _ value: [UInt8], to output: inout [UInt8]) -> Bool {
    value.withUnsafeBytes { bytes in
      // Confluent's wire format begins with a zero and the id of the schema.
      let bytes = bytes.first == 0 && bytes.count > 5 ? UnsafeRawBufferPointer(rebasing: bytes[5...]) : bytes
      guard let row = PlainRow(bytes, fields) else { return false }
      if let keySlot {
        let key = row.values[keySlot]
        guard key.kind == .text, key.start < key.end, let recordKey,
          recordKey.elementsEqual(bytes[key.start..<key.end])
        else { return false }
      }
      let start = output.count
      for (index, column) in definition.columns.enumerated() {
        if index > 0 { output.append(UInt8(ascii: "\t")) }
        let value = row.values[index]
        let isTooLong = column.kind == .text && value.end - value.start > Self.longestText
        guard !isTooLong, CopyText.append(value, of: bytes, column.kind, to: &output) else {
          output.removeSubrange(start...)
          return false
        }
      }
      output.append(UInt8(ascii: "\n"))
      return true
    }
  }

  /// Parses the value. If a schema registry is in use, five bytes precede it (Confluent's wire format).
  private static func object(_ value: [UInt8]) -> JSONObject? {
    if let object = try? JSONObject(parsing: value) { return object }
    guard value.first == 0, value.count > 5 else { return nil }
    return try? JSONObject(parsing: value[5...])
  }

  private func appendEvent(
    _ record: ConsumerRecord, _ value: [UInt8], _ object: JSONObject, to output: inout [UInt8]
  ) throws(RowProblem) {
    func header(_ name: String) -> JSON? {
      record.headers.last { $0.name == name }?.value.map { .string(String(decoding: $0, as: UTF8.self)) }
    }
    guard let id = header("ce_id"), case .string(let type)? = header("ce_type") else { throw .noId }
    let parts = type.split(separator: ".", maxSplits: 3)
    let isOurs = parts.count == 4 && parts[0] == "dev" && parts[1] == "millrace"
    let values: [JSON?] = [
      id, .string(isOurs ? String(parts[3]) : type), .string(isOurs ? String(parts[2]) : ""),
      record.key.map { .string(String(decoding: $0, as: UTF8.self)) }, header("ce_time"), header("ce_notificationid"),
      header("ce_supersedes"), .object(object),
    ]
    try append(values, to: &output)
  }
}

/// The text format of COPY.
enum CopyText {
  /// Appends a value; `\N`, which is null, for a value of another kind.
  static func append(_ value: JSON?, _ kind: TableDefinition.ColumnKind, to output: inout [UInt8]) {
    switch (kind, value) {
    case (.text, .string(let text)?): append(text, to: &output)
    case (.integer, .integer(let number)?): output.append(contentsOf: String(number).utf8)
    case (.boolean, .bool(let value)?): output.append(UInt8(ascii: value ? "t" : "f"))
    case (.time, .string(let text)?):
      // PostgreSQL refuses years after 294276, and text such as February 30.
      guard let time = Timestamp(rfc3339: text), text.utf8.count <= 30, time.millisecondsSince1970 > -60_000_000_000_000
      else { return null(&output) }
      output.append(contentsOf: time.rfc3339.utf8)
    case (.json, let value?) where value != .null: appendJSON(value, to: &output)
    case (.jsonText, .string(let text)?):
      guard let value = try? JSON(parsing: Array(text.utf8)) else { return null(&output) }
      appendJSON(value, to: &output)
    default: null(&output)
    }
  }

  /// Appends a value as it is; false if the parser has to read the record.
  static func append(
    _ value: PlainRow.Value, of bytes: UnsafeRawBufferPointer, _ kind: TableDefinition.ColumnKind,
    to output: inout [UInt8]
  ) -> Bool {
    let part = UnsafeRawBufferPointer(rebasing: bytes[value.start..<value.end])
    switch (kind, value.kind) {
    case (.text, .text), (.integer, .integer): output.append(contentsOf: part)
    case (.boolean, .yes): output.append(UInt8(ascii: "t"))
    case (.boolean, .no): output.append(UInt8(ascii: "f"))
    case (.time, .text):
      guard Timestamp.isPlain(part) else { return false }
      output.append(contentsOf: part)
    case (.json, .nested):
      guard let value = try? JSON(parsing: Array(part)) else { return false }
      appendJSON(value, to: &output)
    case (_, .nested), (.json, _), (.jsonText, .text):
      if value.kind != .absent { return false }
      null(&output)
    default: null(&output)
    }
    return true
  }

  private static func null(_ output: inout [UInt8]) {
    output.append(UInt8(ascii: "\\"))
    output.append(UInt8(ascii: "N"))
  }

  /// Appends a text with the escapes of COPY. A zero, which PostgreSQL cannot store, becomes U+FFFD.
  private static func append(_ text: String, to output: inout [UInt8]) {
    var text = text
    text.withUTF8 { bytes in
      for byte in bytes { append(byte, to: &output) }
    }
  }

  private static func append(_ byte: UInt8, to output: inout [UInt8]) {
    switch byte {
    case 0: output.append(contentsOf: "\u{FFFD}".utf8)
    case UInt8(ascii: "\n"): output.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
    case UInt8(ascii: "\r"): output.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
    case UInt8(ascii: "\t"): output.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
    case UInt8(ascii: "\\"): output.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "\\")])
    default: output.append(byte)
    }
  }

  private static func appendJSON(_ value: JSON, to output: inout [UInt8]) {
    for byte in storable(value).serialized() { append(byte, to: &output) }
  }

  /// The value without what `jsonb` refuses: zeros in texts, and numbers out of range.
  private static func storable(_ value: JSON) -> JSON {
    switch value {
    case .string(let text): text.utf8.contains(0) ? .string(withoutZeros(text)) : value
    case .number(let text): isSafe(text) ? value : .string(text)
    case .array(let elements): .array(elements.map(storable))
    case .object(let object):
      .object(
        JSONObject(
          object.members.map { member in
            JSONObject.Member(
              key: member.key.utf8.contains(0) ? withoutZeros(member.key) : member.key, value: storable(member.value))
          }))
    case .null, .bool, .integer: value
    }
  }

  private static func withoutZeros(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
  }

  /// Whether `numeric` can store the number.
  private static func isSafe(_ number: String) -> Bool {
    guard number.utf8.count <= 64 else { return false }
    let parts = number.split(whereSeparator: { $0 == "e" || $0 == "E" })
    return parts.count < 2 || Int(parts[1]).map { abs($0) <= 1_000 } == true
  }
}
