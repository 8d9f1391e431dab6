// Creates ledger keys from ids and record keys.

internal import Crypto

extension LedgerKey {
  /// Creates the key of an id, for instance a `notificationUUID`.
  init(id: String) {
    var id = id
    self = id.withUTF8 { LedgerKey(hashing: UnsafeRawBufferPointer($0)) }
  }

  /// Creates the key of any bytes, for instance a record's key.
  init(hashing bytes: [UInt8]) { self = bytes.withUnsafeBytes { LedgerKey(hashing: $0) } }

  private init(hashing bytes: UnsafeRawBufferPointer) {
    var hash = SHA256()
    hash.update(bufferPointer: bytes)
    self = hash.finalize().withUnsafeBytes { digest in
      LedgerKey(
        high: UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }
}
