// The key of a notification in a ledger: 128 bits, evenly distributed.

internal import Crypto

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
  init(prefixOf digest: some Collection<UInt8>) {
    var parts: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &parts) { $0.copyBytes(from: digest.prefix(Self.byteCount)) }
    self.init(high: UInt64(bigEndian: parts.0), low: UInt64(bigEndian: parts.1))
  }

  /// Creates the key of an id, for instance a `notificationUUID`.
  init(id: String) { self.init(hashing: Array(id.utf8)) }

  /// Creates the key of any bytes, for instance a record's key.
  init(hashing bytes: [UInt8]) {
    var hash = SHA256()
    bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
    self = hash.finalize().withUnsafeBytes { LedgerKey(prefixOf: $0) }
  }

  /// 16 bytes, most significant first.
  var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

  /// Hashes only the lower half, because keys are evenly distributed already.
  func hash(into hasher: inout Hasher) { hasher.combine(low) }
}
