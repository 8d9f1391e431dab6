// The synchronous part of verification: everything up to a payload signed by the token's own leaf.
import AppStore
import Crypto

/// A token whose signature matches its own leaf. It does not say whether that leaf is Apple's.
struct ExaminedToken: Sendable {
  /// The state of the chain.
  enum Chain: Sendable {
    /// Verified before, in a known header.
    case proven(ProvenChain)
    /// Not yet verified. The header segment is cached once the chain is verified.
    case unproven(LeafCertificate, ParsedCertificate, headerSegment: [UInt8])
    /// Verified before, in a new header.
    case recognised(ProvenChain, headerSegment: [UInt8])
    /// Invalid, whatever its certificates are.
    case faulty(VerificationError)
  }

  let payload: JSONObject
  let chain: Chain

  /// Checks format, algorithm, certificates and signature, cheapest first. The buffer is not retained.
  init(_ bytes: UnsafeRawBufferPointer, cache: ChainCache) throws(VerificationError) {
    for known in cache.headers where CompactToken.begins(bytes, withHeader: known.segment) {
      let token = try CompactToken(bytes, headerCount: known.segment.count)
      payload = try Self.payload(of: token, signedBy: known.chain.publicKey)
      chain = .proven(known.chain)
      return
    }
    let token = try CompactToken(bytes)
    let header = try TokenHeader(segment: token.header)
    guard header.certificates.count == TokenHeader.chainLength else {
      let fault = VerificationError(
        .chainLength, "x5c holds \(header.certificates.count) certificates instead of \(TokenHeader.chainLength)")
      payload = try Self.payload(of: token, header: header, orThrow: fault)
      chain = .faulty(fault)
      return
    }
    let key = ChainKey(leaf: try header.certificate(at: 0), intermediate: try header.certificate(at: 1))
    if let proven = cache.chain(key) {
      payload = try Self.payload(of: token, signedBy: proven.publicKey)
      chain = .recognised(proven, headerSegment: Array(token.header))
      return
    }
    let leaf = try PresentedCertificate(der: key.leaf, position: "leaf")
    let intermediate = try PresentedCertificate(der: key.intermediate, position: "intermediate")
    payload = try Self.payload(of: token, signedBy: leaf.signingKey)
    switch (leaf, intermediate) {
    case (.readable(let leaf), .readable(let intermediate)):
      chain = .unproven(try LeafCertificate(leaf), intermediate, headerSegment: Array(token.header))
    case (.unsupported(_, let fault), _), (_, .unsupported(_, let fault)):
      // A new algorithm at Apple would look like this, so the fault is the chain's and not the token's.
      chain = .faulty(fault)
    }
  }

  /// Returns the payload of a token whose chain has the wrong length. Throws `fault` for any other problem, unless the
  /// leaf signed the token.
  private static func payload(
    of token: CompactToken, header: TokenHeader, orThrow fault: VerificationError
  ) throws(VerificationError) -> JSONObject {
    do {
      let leaf = try PresentedCertificate(der: header.certificate(at: 0), position: "leaf")
      return try payload(of: token, signedBy: leaf.signingKey)
    } catch {
      throw fault
    }
  }

  /// Checks the signature before parsing the payload, so that unsigned data is never parsed.
  private static func payload(
    of token: CompactToken, signedBy key: P256.Signing.PublicKey
  ) throws(VerificationError) -> JSONObject {
    guard let bytes = Base64.decodeURL(token.payload) else {
      throw VerificationError(.format, "the payload is not base64url")
    }
    try ES256.check(token.signature, over: token.signingInput, by: key)
    do {
      return try JSONObject(parsing: bytes)
    } catch {
      throw VerificationError(.format, "the payload is not a JSON object: \(error.reason.rawValue)")
    }
  }
}
