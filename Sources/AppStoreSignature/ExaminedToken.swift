// The half of verification that never waits: everything up to a payload whose leaf signed it.
import AppStore
import Crypto

/// A token whose signature holds under its own leaf; whether that leaf is Apple's is still open.
struct ExaminedToken: Sendable {
  /// What is known of the chain.
  enum Chain: Sendable {
    /// Found good before.
    case proven(ProvenChain)
    /// To be built; the header segment is remembered when it proves good.
    case unproven(LeafCertificate, ParsedCertificate, headerSegment: [UInt8])
    /// A proven chain in a header not seen before.
    case recognised(ProvenChain, headerSegment: [UInt8])
    /// Cannot be good, whatever the certificates.
    case faulty(VerificationError)
  }

  let payload: JSONObject
  let chain: Chain

  /// Checks format, algorithm, certificates and signature, cheapest first; the buffer is not kept.
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
    let parsedLeaf = try ParsedCertificate(der: key.leaf, position: "leaf")
    let intermediate = try ParsedCertificate(der: key.intermediate, position: "intermediate")
    let leaf = try LeafCertificate(parsedLeaf)
    payload = try Self.payload(of: token, signedBy: leaf.publicKey)
    chain = .unproven(leaf, intermediate, headerSegment: Array(token.header))
  }

  /// The payload of a token whose chain has the wrong length: `fault`, whatever else may be wrong, unless its leaf
  /// did sign it.
  private static func payload(
    of token: CompactToken, header: TokenHeader, orThrow fault: VerificationError
  ) throws(VerificationError) -> JSONObject {
    do {
      let leaf = try LeafCertificate(ParsedCertificate(der: header.certificate(at: 0), position: "leaf"))
      return try payload(of: token, signedBy: leaf.publicKey)
    } catch {
      throw fault
    }
  }

  /// The signature is checked before the payload is parsed: what is not signed is not looked at.
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
      throw VerificationError(.format, "the payload is no JSON object: \(error.reason.rawValue)")
    }
  }
}
