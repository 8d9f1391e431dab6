// The notification for the measurements, and the data for raw signature checks.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Crypto
import Foundation
import X509

/// A compact JWS, split for a raw signature check.
struct RawCheck: Sendable {
  let message: [UInt8]
  let signature: P256.Signing.ECDSASignature
  let key: P256.Signing.PublicKey

  init(_ jws: [UInt8]) throws {
    let segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard segments.count == 3, let header = Base64.decodeURL(segments[0]),
      let signature = Base64.decodeURL(segments[2]),
      case .array(let certificates)? = try JSONObject(parsing: header)["x5c"],
      case .string(let leaf)? = certificates.first, let der = Base64.decodeStandard(Array(leaf.utf8)),
      let key = P256.Signing.PublicKey(try Certificate(derEncoded: der).publicKey)
    else { throw BenchError("the token is not a compact JWS with a P-256 leaf") }
    message = Array(jws[..<(jws.count - segments[2].count - 1)])
    self.signature = try P256.Signing.ECDSASignature(rawRepresentation: signature)
    self.key = key
  }

  func check() -> Bool { key.isValidSignature(signature, for: message) }
}

/// A notification with its trusted root.
struct Token: Sendable {
  let jws: [UInt8]
  let root: [UInt8]
  /// The source of the notification, for the report.
  let name: String
  /// The outer token, then the inner ones.
  let checks: [RawCheck]

  private init(jws: [UInt8], root: [UInt8], name: String) throws {
    self.jws = jws
    self.root = root
    self.name = name
    let segments = jws.split(separator: UInt8(ascii: "."))
    guard segments.count == 3, let payload = Base64.decodeURL(segments[1]) else {
      throw BenchError("\(name) is not a compact JWS")
    }
    let data = try ResponseBodyV2DecodedPayload(parsing: payload).data
    let inner = [data?.signedTransactionInfo, data?.signedRenewalInfo].compactMap { $0 }
    checks = try [RawCheck(jws)] + inner.map { try RawCheck(Array($0.utf8)) }
  }

  /// Creates a token that is known to be genuine.
  init(genuine jws: [UInt8]) throws { try self.init(jws: jws, root: [], name: "the posted notification") }

  /// Loads `../shared/vectors/ok-did-renew.jws` next to the project, or creates one of the same kind and size.
  static func load(beside project: String) throws -> Token {
    let vectors = project + "/../shared/vectors"
    if let jws = FileManager.default.contents(atPath: vectors + "/ok-did-renew.jws"),
      let root = FileManager.default.contents(atPath: vectors + "/root.der")
    {
      let text = jws.filter { !Character(UnicodeScalar($0)).isWhitespace }
      return try Token(jws: Array(text), root: Array(root), name: "shared/vectors/ok-did-renew.jws")
    }
    let now = SignedDataVerifier.systemTime()
    let chain = try SigningChain.generate(at: now)
    var samples = SampleNotifications(chain: chain, seed: 1)
    let sample = try samples.next(SampleKind(.didRenew), signedDate: now)
    return try Token(jws: sample.jws, root: chain.rootDER, name: "DID_RENEW by AppStoreSigning")
  }

  func verifier() throws -> SignedDataVerifier {
    var configuration = SignedDataVerifier.Configuration()
    configuration.innerTokens = .verified
    configuration.trustedRoots = [root]
    return try SignedDataVerifier(configuration)
  }
}
