// Exports a chain with its keys as text, so that two processes can share it: one signs, the other trusts the root.
import Crypto
import SwiftASN1
import X509

extension SigningChain {
  /// The whole chain in PEM: the certificates of leaf, intermediate and root, then their keys in that order.
  ///
  /// Treat it as a secret because it contains private keys, although only tests should trust this chain.
  public var pem: String {
    let certificates = [leafDER, intermediateDER, rootDER].map {
      PEMDocument(type: Self.certificateType, derBytes: $0).pemString
    }
    let keys = [leafKeyPEM, intermediate.key.pemRepresentation, root.key.pemRepresentation]
    return (certificates + keys).joined(separator: "\n") + "\n"
  }

  /// The signing key in PEM.
  package var leafKeyPEM: String {
    switch leafKey {
    case .p256(let key): key.pemRepresentation
    case .p384(let key): key.pemRepresentation
    }
  }

  /// The root certificate in PEM, which verifiers have to trust. It is not a secret.
  public var rootPEM: String {
    PEMDocument(type: Self.certificateType, derBytes: rootDER).pemString + "\n"
  }

  /// Reads a chain that ``pem`` exported.
  ///
  /// - Throws: ``SigningError/chainNotReadable(part:cause:)`` if a block is missing, damaged or of another type.
  public init(pem: String) throws(SigningError) {
    let documents: [PEMDocument]
    do {
      documents = try PEMDocument.parseMultiple(pemString: pem)
    } catch {
      throw SigningError.chainNotReadable(part: "PEM", cause: String(describing: error))
    }
    guard documents.count == 6 else {
      throw SigningError.chainNotReadable(part: "PEM", cause: "\(documents.count) blocks instead of 6")
    }
    let certificates = documents[0..<3]
    guard certificates.allSatisfy({ $0.discriminator == Self.certificateType }) else {
      throw SigningError.chainNotReadable(
        part: "certificates", cause: "the first three blocks are not all certificates")
    }
    do {
      let leaf = try Certificate(derEncoded: documents[0].derBytes)
      let intermediate = try Certificate(derEncoded: documents[1].derBytes)
      let root = try Certificate(derEncoded: documents[2].derBytes)
      let intermediateKey = try P384.Signing.PrivateKey(pemRepresentation: documents[4].pemString)
      let rootKey = try P384.Signing.PrivateKey(pemRepresentation: documents[5].pemString)
      var shape = ChainShape()
      let leafKey: LeafKey
      if P256.Signing.PublicKey(leaf.publicKey) != nil {
        leafKey = .p256(try P256.Signing.PrivateKey(pemRepresentation: documents[3].pemString))
      } else {
        leafKey = .p384(try P384.Signing.PrivateKey(pemRepresentation: documents[3].pemString))
        shape.leafKey = .p384
      }
      guard leafKey.publicKey == leaf.publicKey else {
        throw SigningError.chainNotReadable(part: "leaf", cause: "its key does not belong to its certificate")
      }
      try self.init(
        shape: shape,
        root: Authority(certificate: root, key: rootKey),
        intermediate: Authority(certificate: intermediate, key: intermediateKey),
        leaf: leaf, leafKey: leafKey)
    } catch let error as SigningError {
      throw error
    } catch {
      throw SigningError.chainNotReadable(part: "a block", cause: String(describing: error))
    }
  }

  private static var certificateType: String { "CERTIFICATE" }
}
