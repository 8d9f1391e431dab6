// From ids and keys to ledger keys.

internal import Crypto

extension LedgerKey {
  /// The key of an id, for instance a `notificationUUID`.
  init(id: String) { self.init(hashing: Array(id.utf8)) }

  /// The key of any bytes, for instance a record's key.
  init(hashing bytes: [UInt8]) {
    self = SHA256.hash(data: bytes).withUnsafeBytes { digest in
      LedgerKey(
        high: UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }
}
