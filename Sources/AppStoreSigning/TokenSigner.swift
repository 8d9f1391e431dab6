// Compact JWS as Apple makes it: header {"alg","x5c"} in that order, standard base64 certificates, unpadded base64url.
import AppStore
import Crypto

extension SigningChain {
  /// Signs `payload` as Apple signs: ES256 under the leaf's key, with the chain in `x5c`.
  ///
  /// - Parameter payload: the bytes of the JSON payload, used as they are.
  /// - Returns: the compact JWS in ASCII.
  /// - Throws: ``SigningError/notSigned(cause:)`` when the leaf's key refuses.
  public func sign(_ payload: [UInt8]) throws(SigningError) -> [UInt8] {
    try sign(payload, reusing: nil).jws
  }

  /// The same token as ``sign(_:)`` makes, and its signature, from which it can be made again.
  ///
  /// ECDSA is randomised: signing twice gives two tokens. Who must send the same bytes later keeps 64 bytes instead of
  /// the token.
  ///
  /// - Parameter signature: what an earlier call gave for the same payload under the same leaf; nil signs anew.
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

  /// `r || s`, 64 bytes for a P-256 leaf, 96 for a P-384 one.
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

  /// The same signature in DER, which JWS does not allow.
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

/// The two base64 alphabets, by the coder that the verifier reads with too.
enum Text {
  static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encodeStandard(bytes), as: UTF8.self)
  }

  static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
    Base64.encodeURL(bytes)
  }
}
