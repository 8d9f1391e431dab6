// Scans bytes in words of eight. The generic functions of the standard library compare byte by byte, and
// `String(validating:as:)` looks up type metadata at every call, which took longer than the text itself.

extension UnsafeRawBufferPointer {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Returns the offset of the first byte with this value; nil if there is none.
  package func offset(of byte: UInt8) -> Int? {
    let pattern = Self.ones &* UInt64(byte)
    var offset = 0
    while count - offset >= 8 {
      let difference = UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ pattern
      // The lowest high bit is exact: a borrow can only set bits above it.
      let found = (difference &- Self.ones) & ~difference & Self.highBits
      if found != 0 { return offset + found.trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < count {
      if self[offset] == byte { return offset }
      offset += 1
    }
    return nil
  }

  /// Whether all bytes are ASCII.
  package var isASCII: Bool {
    var bits: UInt64 = 0
    var offset = 0
    while count - offset >= 8 {
      bits |= loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    while offset < count {
      bits |= UInt64(self[offset])
      offset += 1
    }
    return bits & Self.highBits == 0
  }
}

extension String {
  /// Creates a string from bytes; nil if they are not UTF-8.
  package init?(utf8 bytes: UnsafeRawBufferPointer) {
    if bytes.isASCII {
      self.init(decoding: bytes, as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }

  /// Creates a string from bytes; nil if they are not UTF-8.
  package init?(utf8 bytes: [UInt8]) {
    guard let text = bytes.withUnsafeBytes({ String(utf8: $0) }) else { return nil }
    self = text
  }
}
