// A state as the ledger keeps it: with the record key of the notification that stored it, so that everything about a
// customer can be found.

/// A state and the record key that it belongs to, in the form in which it is stored.
struct StoredState: Sendable, Hashable {
  /// A byte that tells whether there is a key; the key with its length in four bytes; the value. A state whose key is its
  /// name has no key of its own.
  let bytes: [UInt8]

  init(_ value: [UInt8], name: String, key: [UInt8]) {
    guard !key.elementsEqual(name.utf8) else {
      bytes = [0] + value
      return
    }
    var writer = ByteWriter(1)
    writer.put(UInt32(clamping: key.count))
    writer.put(contentsOf: key)
    writer.put(contentsOf: value)
    bytes = writer.bytes
  }

  /// Reads the stored form.
  init(bytes: [UInt8]) throws(LedgerRecordError) {
    self.bytes = bytes
    var reader = ByteReader(bytes)
    let hasKey: UInt8 = try reader.integer()
    guard hasKey <= 1 else { throw .malformed }
    if hasKey == 1 {
      let count: UInt32 = try reader.integer()
      _ = try reader.take(Int(count))
    }
  }

  /// Takes bytes that were valid before.
  init(valid bytes: [UInt8]) { self.bytes = bytes }

  /// Whether bytes are a stored form.
  static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    switch bytes.first {
    case 0: true
    case 1: bytes.count >= 5 && bytes[1..<5].reduce(0) { $0 << 8 | Int($1) } <= bytes.count - 5
    default: false
    }
  }

  /// The value that the handler stored.
  var value: [UInt8] { Array(bytes[Self.valueStart(bytes[...])...]) }

  /// The record key that the state belongs to; nil if it is the state's name.
  var key: [UInt8]? { Self.key(in: bytes[...]).map { Array($0) } }

  /// Returns the record key in the stored form of a state; nil if it is the state's name.
  static func key(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard bytes.first == 1 else { return nil }
    return bytes.dropFirst(5).prefix(max(0, valueStart(bytes) - bytes.startIndex - 5))
  }

  private static func valueStart(_ bytes: ArraySlice<UInt8>) -> Int {
    guard bytes.first == 1 else { return min(bytes.startIndex + 1, bytes.endIndex) }
    let count = bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
    return min(bytes.startIndex + 5 + count, bytes.endIndex)
  }
}
