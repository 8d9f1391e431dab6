// The JOSE header of a token: algorithm, critical extensions, certificates. The checks that cost nothing.
import AppStore

/// A header that passed every check short of cryptography.
struct TokenHeader {
  /// The certificates of `x5c` as Base64 text; not yet decoded.
  let certificates: [String]

  /// Reads a header segment. Members that nobody asked about (`typ`, `kid`) are ignored, as RFC 7515 demands.
  init(segment: UnsafeRawBufferPointer) throws(VerificationError) {
    guard let bytes = Base64.decodeURL(segment) else { throw VerificationError(.format, "the header is not base64url") }
    let header: JSONObject
    do {
      header = try JSONObject(parsing: bytes, maximumDepth: 8)
    } catch {
      throw VerificationError(.format, "the header is no JSON object: \(error.reason.rawValue)")
    }
    guard header["alg"] == .string("ES256") else { throw VerificationError(.algorithm, "alg is not ES256") }
    // Section 4.1.11: who does not understand a critical extension must refuse. None is understood here.
    guard header["crit"] == nil else { throw VerificationError(.format, "crit demands an extension not understood") }
    guard case .array(let entries)? = header["x5c"] else { throw VerificationError(.format, "no x5c in the header") }
    var certificates: [String] = []
    for entry in entries {
      guard case .string(let text) = entry else {
        throw VerificationError(.certificate, "an entry of x5c is no string")
      }
      certificates.append(text)
    }
    self.certificates = certificates
  }

  /// The chain is always leaf, intermediate, root.
  static let chainLength = 3

  /// The DER of the certificate at `index`; the third is never asked for, because trust comes from our own roots.
  func certificate(at index: Int) throws(VerificationError) -> [UInt8] {
    guard certificates.indices.contains(index), let bytes = Base64.decodeStandard(certificates[index].utf8) else {
      throw VerificationError(.certificate, "x5c[\(index)] is not Base64")
    }
    return bytes
  }
}
