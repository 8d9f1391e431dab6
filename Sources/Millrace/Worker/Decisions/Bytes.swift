// Fixed fields in bytes, most significant first.

/// Appends fields.
struct ByteWriter: Sendable {
  private(set) var bytes: [UInt8]

  init(_ first: UInt8) { bytes = [first] }

  mutating func put<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(contentsOf more: [UInt8]) { bytes += more }
}

/// Takes fields off the front.
struct ByteReader: Sendable {
  private var left: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { left = bytes[...] }

  mutating func integer<Value: FixedWidthInteger>() throws(LedgerRecordError) -> Value {
    try take(Value.bitWidth / 8).reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
  }

  mutating func take(_ count: Int) throws(LedgerRecordError) -> [UInt8] {
    guard count <= left.count else { throw .malformed }
    defer { left = left.dropFirst(count) }
    return Array(left.prefix(count))
  }

  mutating func rest() -> [UInt8] {
    defer { left = [] }
    return Array(left)
  }
}
