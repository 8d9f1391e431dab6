// Compact JWS in Apple's form: the header {"alg","x5c"} in this order, certificates in standard base64, segments in
// unpadded base64url.
import AppStore
import Crypto

extension SigningChain {
  /// Signs `payload` as Apple does: ES256 with the leaf's key, and the chain in `x5c`.
  ///
  /// - Parameter payload: the bytes of the JSON payload, used unchanged.
  /// - Returns: the compact JWS in ASCII.
  /// - Throws: ``SigningError/notSigned(cause:)`` if the leaf's key fails.
  public func sign(_ payload: [UInt8]) throws(SigningError) -> [UInt8] {
    try sign(payload, reusing: nil).jws
  }

  /// Signs like ``sign(_:)`` and also returns the signature, from which the same token can be rebuilt.
  ///
  /// ECDSA is randomized: signing twice gives two different tokens. To send the same bytes again later, keep the
  /// 64-byte signature instead of the whole token.
  ///
  /// - Parameter signature: the result of an earlier call for the same payload and leaf; nil creates a new signature.
  package func sign(
    _ payload: [UInt8], reusing signature: [UInt8]?
  ) throws(SigningError) -> (jws: [UInt8], signature: [UInt8]) {
    var input = headerSegment
    input.append(UInt8(ascii: "."))
    input.append(contentsOf: Text.base64URL(payload))
    let raw = if let signature { signature } else { try rawSignature(over: input) }
    return (Self.token(signingInput: input, signature: raw), raw)
  }

  /// The JOSE header of every token of this chain, in Apple's order and without whitespace.
  func header(algorithm: String = "ES256", x5c: [[UInt8]]? = nil, extra: String = "") -> [UInt8] {
    Self.header(algorithm: algorithm, x5c: x5c ?? [leafDER, intermediateDER, rootDER], extra: extra)
  }

  static func header(algorithm: String = "ES256", x5c: [[UInt8]], extra: String = "") -> [UInt8] {
    let certificates =
      x5c
      .map { "\"" + Text.base64($0) + "\"" }
      .joined(separator: ",")
    return Array("{\"alg\":\"\(algorithm)\",\"x5c\":[\(certificates)]\(extra)}".utf8)
  }

  func sign(_ payload: [UInt8], header: [UInt8]) throws(SigningError) -> [UInt8] {
    let input = Self.signingInput(header: header, payload: payload)
    return Self.token(signingInput: input, signature: try rawSignature(over: input))
  }

  /// `r || s`: 64 bytes for a P-256 leaf, 96 bytes for a P-384 leaf.
  func rawSignature(over input: [UInt8]) throws(SigningError) -> [UInt8] {
    do {
      switch leafKey {
      case .p256(let key): return Array(try key.signature(for: input).rawRepresentation)
      case .p384(let key): return Array(try key.signature(for: input).rawRepresentation)
      }
    } catch {
      throw SigningError.notSigned(cause: String(describing: error))
    }
  }

  /// A signature in DER, which JWS does not allow.
  func derSignature(over input: [UInt8]) throws(SigningError) -> [UInt8] {
    do {
      switch leafKey {
      case .p256(let key): return Array(try key.signature(for: input).derRepresentation)
      case .p384(let key): return Array(try key.signature(for: input).derRepresentation)
      }
    } catch {
      throw SigningError.notSigned(cause: String(describing: error))
    }
  }

  static func signingInput(header: [UInt8], payload: [UInt8]) -> [UInt8] {
    Text.base64URL(header) + [UInt8(ascii: ".")] + Text.base64URL(payload)
  }

  static func token(signingInput: [UInt8], signature: [UInt8]) -> [UInt8] {
    signingInput + [UInt8(ascii: ".")] + Text.base64URL(signature)
  }
}

/// The two base64 alphabets, with the same encoder as the verifier.
enum Text {
  static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encodeStandard(bytes), as: UTF8.self)
  }

  static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
    Base64.encodeURL(bytes)
  }
}
