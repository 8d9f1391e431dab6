// Locates the three segments of a compact JWS (RFC 7515, section 7.1) without copying them.
import AppStore

/// The segments of a compact JWS inside the caller's buffer.
///
/// Valid only as long as the buffer.
struct CompactToken {
  let header: UnsafeRawBufferPointer
  let payload: UnsafeRawBufferPointer
  let signature: UnsafeRawBufferPointer
  /// `header.payload`, the bytes that the signature covers.
  let signingInput: UnsafeRawBufferPointer

  private static let dot = UInt8(ascii: ".")

  /// Splits a token at exactly two dots. `headerCount` is the position of the first dot, if known.
  init(_ bytes: UnsafeRawBufferPointer, headerCount: Int? = nil) throws(VerificationError) {
    // The signature is by far the shortest segment, so the search for the second dot starts at the end.
    guard
      let first = headerCount ?? bytes.offset(of: Self.dot), let second = bytes.lastIndex(of: Self.dot),
      first < second
    else {
      throw VerificationError(.format, "not three segments")
    }
    header = UnsafeRawBufferPointer(rebasing: bytes[..<first])
    payload = UnsafeRawBufferPointer(rebasing: bytes[(first + 1)..<second])
    signature = UnsafeRawBufferPointer(rebasing: bytes[(second + 1)...])
    signingInput = UnsafeRawBufferPointer(rebasing: bytes[..<second])
    // A third dot can only be in the payload, where the base64url decoder rejects it.
  }

  /// Whether `bytes` begin with this header segment and a dot.
  static func begins(_ bytes: UnsafeRawBufferPointer, withHeader header: [UInt8]) -> Bool {
    guard bytes.count > header.count, bytes[header.count] == dot else { return false }
    return header.withUnsafeBytes { isEqual($0, UnsafeRawBufferPointer(rebasing: bytes[..<header.count])) }
  }

  /// Compares eight bytes at a time, then the rest one by one.
  private static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var offset = 0
    while offset + 8 <= left.count {
      let leftWord = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard leftWord == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
      offset += 8
    }
    while offset < left.count {
      guard left[offset] == right[offset] else { return false }
      offset += 1
    }
    return true
  }
}
