// Reads and writes fixed-size fields, most significant byte first.

/// Appends fields.
struct ByteWriter: Sendable {
  private(set) var bytes: [UInt8]

  init(_ first: UInt8) { bytes = [first] }

  mutating func put<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(contentsOf more: [UInt8]) { bytes += more }
}

/// Reads fields from the front.
struct ByteReader: Sendable {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The number of bytes left.
  var count: Int { bytes.count - position }

  mutating func integer<Value: FixedWidthInteger>() throws(LedgerRecordError) -> Value {
    let size = Value.bitWidth / 8
    guard size <= count else { throw .malformed }
    var value: Value = 0
    for index in position..<position + size { value = value << 8 | Value(truncatingIfNeeded: bytes[index]) }
    position += size
    return value
  }

  mutating func take(_ count: Int) throws(LedgerRecordError) -> [UInt8] {
    guard count >= 0, count <= self.count else { throw .malformed }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func rest() -> [UInt8] {
    defer { position = bytes.count }
    return Array(bytes[position...])
  }
}
