// The JOSE header of a token: algorithm, critical extensions and certificates. These checks need no cryptography.
import AppStore

/// A header that passed every check that needs no cryptography.
struct TokenHeader {
  /// The certificates of `x5c` as Base64 text.
  let certificates: [String]

  /// Parses a header segment. Unknown members (`typ`, `kid`) are ignored, as RFC 7515 requires.
  init(segment: UnsafeRawBufferPointer) throws(VerificationError) {
    guard let bytes = Base64.decodeURL(segment) else { throw VerificationError(.format, "the header is not base64url") }
    let header: JSONObject
    do {
      header = try JSONObject(parsing: bytes, maximumDepth: 8)
    } catch {
      throw VerificationError(.format, "the header is not a JSON object: \(error.reason.rawValue)")
    }
    guard header["alg"] == .string("ES256") else { throw VerificationError(.algorithm, "alg is not ES256") }
    // Section 4.1.11: a recipient that does not support a critical extension must reject the token. None is supported
    // here.
    guard header["crit"] == nil else { throw VerificationError(.format, "crit requires an unsupported extension") }
    guard case .array(let entries)? = header["x5c"] else { throw VerificationError(.format, "no x5c in the header") }
    var certificates: [String] = []
    for entry in entries {
      guard case .string(let text) = entry else {
        throw VerificationError(.certificate, "an entry of x5c is not a string")
      }
      certificates.append(text)
    }
    self.certificates = certificates
  }

  /// The length of every chain: leaf, intermediate and root.
  static let chainLength = 3

  /// Returns the DER of the certificate at `index`. The third is never used, because the roots are configured.
  func certificate(at index: Int) throws(VerificationError) -> [UInt8] {
    guard certificates.indices.contains(index), let bytes = Base64.decodeStandard(certificates[index].utf8) else {
      throw VerificationError(.certificate, "x5c[\(index)] is not Base64")
    }
    return bytes
  }
}
