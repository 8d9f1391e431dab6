// Reads and writes the fields of ledger values. Integers of a fixed size have their most significant byte first.

internal import AppStore

/// Writes the fields of a value.
struct ByteWriter: Sendable {
  /// The name of the entry. A value whose record key is its name does not repeat it.
  let name: ArraySlice<UInt8>
  private(set) var bytes: [UInt8]

  init(_ first: UInt8, name: ArraySlice<UInt8> = []) {
    (bytes, self.name) = ([], name)
    // Most values and names fit.
    bytes.reserveCapacity(24)
    bytes.append(first)
  }

  mutating func put<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(contentsOf more: [UInt8]) { bytes += more }

  /// Writes bytes after their number.
  mutating func put(counted more: [UInt8]) {
    put(UInt32(clamping: more.count))
    bytes += more
  }

  /// Writes a time in as few bytes as possible, with seven bits in each: six until the year 2039.
  mutating func put(short time: Timestamp) {
    let number = time.millisecondsSince1970
    // Doubled, so that the lowest bit has the sign.
    var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// Reads the fields of a value from the front.
struct ByteReader: Sendable {
  /// The name of the entry.
  let name: ArraySlice<UInt8>
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  init(_ bytes: ArraySlice<UInt8>, name: ArraySlice<UInt8> = []) {
    (self.bytes, self.name, position) = (bytes, name, bytes.startIndex)
  }

  /// Reads bytes that are in a ledger, and were checked before.
  static func checked<Value>(
    _ bytes: ArraySlice<UInt8>, name: ArraySlice<UInt8> = [], _ read: (inout ByteReader) throws -> Value
  ) -> Value? {
    var reader = ByteReader(bytes, name: name)
    do {
      return try read(&reader)
    } catch {
      assertionFailure("the ledger has bytes that it should have refused: \(error)")
      return nil
    }
  }

  /// The number of bytes left.
  var count: Int { bytes.endIndex - position }

  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>() throws(LedgerRecordError) -> Value {
    guard MemoryLayout<Value>.size <= count else { throw .malformed }
    defer { position += MemoryLayout<Value>.size }
    let offset = position - bytes.startIndex
    return bytes.withUnsafeBytes { Value(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self)) }
  }

  mutating func take(_ count: Int) throws(LedgerRecordError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= self.count else { throw .malformed }
    position += count
    return bytes[position - count..<position]
  }

  /// Reads what ``ByteWriter/put(counted:)`` writes.
  mutating func counted() throws(LedgerRecordError) -> ArraySlice<UInt8> {
    let count: UInt32 = try integer()
    return try take(Int(count))
  }

  /// Reads what ``ByteWriter/put(short:)`` writes.
  mutating func shortTime() throws(LedgerRecordError) -> Timestamp {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: UInt64.bitWidth, by: 7) {
      let byte: UInt8 = try integer()
      number |= UInt64(byte & 0x7F) << UInt64(shift)
      guard byte >= 0x80 else {
        return Timestamp(millisecondsSince1970: Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
      }
    }
    throw .malformed
  }

  mutating func rest() -> ArraySlice<UInt8> {
    defer { position = bytes.endIndex }
    return bytes[position...]
  }
}
