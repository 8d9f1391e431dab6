// A certificate chain like the one Apple signs with, and its keys.
public import AppStore
import Crypto
import SwiftASN1
import X509

/// A chain that signs like Apple's.
///
/// The root and intermediate have P-384 keys and the leaf has a P-256 key. The certificates have Apple's marker
/// identifiers and are signed with ecdsa-with-SHA384. Their names resemble Apple's but identify them as a test's.
///
/// The value holds private keys. No production verifier may trust it, and ``pem`` must stay secret.
public struct SigningChain: Sendable {
  struct Authority: Sendable {
    var certificate: Certificate
    var key: P384.Signing.PrivateKey
  }

  enum LeafKey: Sendable {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)

    var publicKey: Certificate.PublicKey {
      switch self {
      case .p256(let key): Certificate.PublicKey(key.publicKey)
      case .p384(let key): Certificate.PublicKey(key.publicKey)
      }
    }
  }

  let shape: ChainShape
  let root: Authority
  let intermediate: Authority
  let leaf: Certificate
  let leafKey: LeafKey
  /// The first segment of every token. It is built once, because it makes up four fifths of a small token.
  let headerSegment: [UInt8]

  /// The root's DER, which verifiers have to trust.
  public let rootDER: [UInt8]
  /// The intermediate's DER: `x5c[1]` of every token.
  public let intermediateDER: [UInt8]
  /// The leaf's DER: `x5c[0]` of every token.
  public let leafDER: [UInt8]

  /// Generates a chain whose leaf is valid from `notBefore` through `notAfter`, to the second. The intermediate and
  /// root are valid from a year before to ten years after, because Apple's outlive their leaves.
  ///
  /// - Parameters:
  ///   - shape: the differences from Apple's chain.
  ///   - seed: reproduces the keys and serial numbers. The certificates' signatures still differ, because ECDSA is
  ///     randomized: to
  ///     share a chain between processes, use ``pem`` and not a seed.
  /// - Throws: ``SigningError`` if a certificate cannot be built, for example for dates outside the years 1950 to 9999.
  public static func generate(
    notBefore: Timestamp, notAfter: Timestamp, shape: ChainShape = ChainShape(), seed: UInt64? = nil
  ) throws(SigningError) -> SigningChain {
    let keys = seed.map(KeySource.seeded) ?? .random
    let begins = notBefore + .seconds(-365 * 86_400)
    let ends = notAfter + .seconds(3_650 * 86_400)
    let rootKey = try keys.p384("root")
    let intermediateKey = try keys.p384("intermediate")
    let root = CertificatePlan(
      role: .root, shape: shape, notBefore: begins, notAfter: ends, serialNumber: keys.serialNumber("root"),
      publicKey: Certificate.PublicKey(rootKey.publicKey), issuer: try CertificateRole.root.name(shape),
      issuerKey: rootKey)
    let intermediate = CertificatePlan(
      role: .intermediate, shape: shape, notBefore: begins, notAfter: ends,
      serialNumber: keys.serialNumber("intermediate"), publicKey: Certificate.PublicKey(intermediateKey.publicKey),
      issuer: try CertificateRole.root.name(shape), issuerKey: rootKey)
    return try SigningChain(
      shape: shape,
      root: Authority(certificate: root.certificate(), key: rootKey),
      intermediate: Authority(certificate: intermediate.certificate(), key: intermediateKey),
      notBefore: notBefore, notAfter: notAfter, keys: keys, leafLabel: "leaf")
  }

  /// Generates a chain that is in use at `instant`. Like Apple's, its leaf became valid 30 days ago and expires in two
  /// years.
  public static func generate(
    at instant: Timestamp, shape: ChainShape = ChainShape(), seed: UInt64? = nil
  ) throws(SigningError) -> SigningChain {
    try generate(
      notBefore: instant + .seconds(-30 * 86_400), notAfter: instant + .seconds(730 * 86_400), shape: shape, seed: seed)
  }

  /// Returns the same root and intermediate with a new leaf. Apple replaces its leaf about every two years.
  ///
  /// - Parameters:
  ///   - shape: the differences of the new leaf; nil keeps the shape.
  ///   - seed: reproduces the leaf's key.
  public func rotatingLeaf(
    notBefore: Timestamp, notAfter: Timestamp, shape: ChainShape? = nil, seed: UInt64? = nil
  ) throws(SigningError) -> SigningChain {
    let keys = seed.map(KeySource.seeded) ?? .random
    return try SigningChain(
      shape: shape ?? self.shape, root: root, intermediate: intermediate, notBefore: notBefore, notAfter: notAfter,
      keys: keys, leafLabel: "rotated leaf")
  }

  /// Returns the same root with a new intermediate and a new leaf.
  ///
  /// - Parameter shape: the differences of both certificates; nil keeps the shape.
  public func rotatingIntermediate(
    notBefore: Timestamp, notAfter: Timestamp, shape: ChainShape? = nil
  ) throws(SigningError) -> SigningChain {
    let key = P384.Signing.PrivateKey()
    let shape = shape ?? self.shape
    let plan = CertificatePlan(
      role: .intermediate, shape: shape, notBefore: notBefore, notAfter: notAfter,
      serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
      issuer: root.certificate.subject, issuerKey: root.key)
    return try SigningChain(
      shape: shape, root: root, intermediate: Authority(certificate: plan.certificate(), key: key),
      notBefore: notBefore, notAfter: notAfter, keys: .random, leafLabel: "leaf")
  }

  private init(
    shape: ChainShape, root: Authority, intermediate: Authority, notBefore: Timestamp, notAfter: Timestamp,
    keys: KeySource, leafLabel: String
  ) throws(SigningError) {
    let leafKey: LeafKey
    switch shape.leafKey {
    case .p256: leafKey = .p256(try keys.p256(leafLabel))
    case .p384: leafKey = .p384(try keys.p384(leafLabel))
    }
    let leaf = CertificatePlan(
      role: .leaf, shape: shape, notBefore: notBefore, notAfter: notAfter, serialNumber: keys.serialNumber(leafLabel),
      publicKey: leafKey.publicKey, issuer: intermediate.certificate.subject, issuerKey: intermediate.key)
    try self.init(
      shape: shape, root: root, intermediate: intermediate, leaf: leaf.certificate(), leafKey: leafKey)
  }

  init(
    shape: ChainShape, root: Authority, intermediate: Authority, leaf: Certificate, leafKey: LeafKey
  ) throws(SigningError) {
    self.shape = shape
    self.root = root
    self.intermediate = intermediate
    self.leaf = leaf
    self.leafKey = leafKey
    rootDER = try root.certificate.der(named: "root")
    intermediateDER = try intermediate.certificate.der(named: "intermediate")
    leafDER = try leaf.der(named: "leaf")
    headerSegment = Text.base64URL(Self.header(x5c: [leafDER, intermediateDER, rootDER]))
  }
}

extension Certificate {
  func der(named name: String) throws(SigningError) -> [UInt8] {
    var serializer = DER.Serializer()
    do {
      try serializer.serialize(self)
    } catch {
      throw SigningError.certificateNotBuilt(certificate: name, cause: String(describing: error))
    }
    return serializer.serializedBytes
  }
}
