// The key of a notification in a ledger: 128 bits, evenly distributed.

/// The first 128 bits of a SHA-256.
///
/// Keys are short enough to keep millions in memory. Two of 10⁹ ids have the same key with a probability of about
/// 10⁻²¹.
struct LedgerKey: Sendable, Hashable {
  var high: UInt64
  var low: UInt64

  static let byteCount = 16

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The first 16 bytes; nil if there are fewer.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count >= Self.byteCount else { return nil }
    self.init(prefixOf: bytes)
  }

  /// The first 16 bytes of a digest that has at least 16.
  init(prefixOf digest: some Sequence<UInt8>) {
    var parts: (high: UInt64, low: UInt64) = (0, 0)
    for (index, byte) in digest.prefix(Self.byteCount).enumerated() {
      if index < 8 { parts.high = parts.high << 8 | UInt64(byte) } else { parts.low = parts.low << 8 | UInt64(byte) }
    }
    self.init(high: parts.high, low: parts.low)
  }

  /// 16 bytes, most significant first.
  var bytes: [UInt8] {
    (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * UInt64($0 % 8))) }
  }

  /// Hashes only the lower half, because keys are evenly distributed already.
  func hash(into hasher: inout Hasher) { hasher.combine(low) }
}
