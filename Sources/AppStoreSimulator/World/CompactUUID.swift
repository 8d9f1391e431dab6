// A UUID in 16 bytes instead of a string. The world keeps hundreds of thousands of them.

internal import AppStore
internal import AppStoreSigning

/// A UUID as a number.
package struct CompactUUID: Sendable, Hashable {
  let high: UInt64
  let low: UInt64

  /// The next version 4 UUID from a generator.
  init(using generator: inout SeededGenerator) {
    high = generator.next() & ~0xF000 | 0x4000
    low = generator.next() & ~(0xC0 << 56) | 0x80 << 56
  }

  /// Parses the canonical form in upper or lower case. Returns nil for any other text.
  package init?(_ text: String) {
    guard text.isUUID else { return nil }
    let digits = text.filter { $0 != "-" }
    guard let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16) else {
      return nil
    }
    self.high = high
    self.low = low
  }

  /// The canonical form in lower case, as Apple writes `notificationUUID`.
  package var text: String {
    String(unsafeUninitializedCapacity: 36) { buffer in
      var position = 0
      for nibble in 0..<32 {
        if [8, 12, 16, 20].contains(nibble) {
          buffer[position] = UInt8(ascii: "-")
          position += 1
        }
        let word = nibble < 16 ? high : low
        let value = UInt8(truncatingIfNeeded: word >> (60 - 4 * UInt64(nibble % 16))) & 0x0F
        buffer[position] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
        position += 1
      }
      return position
    }
  }
}
