// ES256 (RFC 7518, section 3.4): a raw r || s over SHA-256, and no other form.
import AppStore
import Crypto

/// Checks signatures without copying the bytes.
enum ES256 {
  /// Checks that `segment` is a signature by `key` over `input`.
  ///
  /// - Parameter segment: the third segment, base64url of exactly 64 bytes. A DER signature, which some libraries
  ///   accept, is rejected by its length or by its values of r and s. Values outside 1..<n are rejected before any
  ///   arithmetic.
  /// - Throws: ``VerificationError/Reason/format`` or ``VerificationError/Reason/signature``.
  static func check(
    _ segment: UnsafeRawBufferPointer, over input: UnsafeRawBufferPointer, by key: P256.Signing.PublicKey
  ) throws(VerificationError) {
    guard let raw = Base64.decodeURL(segment) else {
      throw VerificationError(.format, "the signature is not base64url")
    }
    guard raw.count == 64 else { throw VerificationError(.signature, "the signature is not 64 bytes of r and s") }
    guard isScalar(raw[..<32]), isScalar(raw[32...]) else {
      throw VerificationError(.signature, "r or s is zero, or not less than the order of the curve")
    }
    let signature: P256.Signing.ECDSASignature
    do {
      signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
    } catch {
      throw VerificationError(.signature, "the signature is not an ECDSA signature")
    }
    var hash = SHA256()
    hash.update(bufferPointer: input)
    guard key.isValidSignature(signature, for: hash.finalize()) else {
      throw VerificationError(.signature, "the signature does not match the leaf's key")
    }
  }

  /// Whether 32 big-endian bytes are in 1..<n.
  static func isScalar(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
  }

  /// The order n of the P-256 group (SP 800-186, section 3.2.1.3).
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]
}
