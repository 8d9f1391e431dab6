// Responds to OCSP requests about the leaf and intermediate of a chain, as RFC 6960 describes, without a network.
public import AppStore
import Crypto
import SwiftASN1
import X509

/// The responder for the URL that ``ChainShape/ocspURL`` writes into the certificates.
///
/// The issuer itself signs responses: the intermediate for the leaf, the root for the intermediate. Like Apple's
/// responder, it does not return a nonce.
public struct OCSPResponder: Sendable {
  /// The status of a certificate.
  public enum Status: Sendable, Hashable {
    /// Not revoked.
    case good
    /// Revoked at this time.
    case revoked(at: Timestamp)
    /// The responder does not know the certificate.
    case unknown
  }

  /// The status of the leaf.
  public var leaf: Status = .good
  /// The status of the intermediate.
  public var intermediate: Status = .good
  private let chain: SigningChain

  /// Creates a responder that reports every certificate of `chain` as good.
  public init(chain: SigningChain) {
    self.chain = chain
  }

  /// Responds to a DER request.
  ///
  /// - Parameters:
  ///   - request: an `OCSPRequest` about one certificate.
  ///   - thisUpdate: the time at which the status was known to be correct.
  ///   - nextUpdate: the time until which the response is valid; Apple uses twelve hours.
  /// - Returns: an `OCSPResponse` in DER.
  /// - Throws: ``SigningError/statusNotAnswered(cause:)`` unless it is a request about a certificate of this chain.
  public func respond(
    to request: [UInt8], thisUpdate: Timestamp, nextUpdate: Timestamp
  ) throws(SigningError) -> [UInt8] {
    do {
      let identifier = try Self.certificateIdentifier(in: request)
      let isAboutLeaf = Self.hashes(chain.intermediate.key).contains(identifier.issuerKeyHash)
      guard isAboutLeaf || Self.hashes(chain.root.key).contains(identifier.issuerKeyHash) else {
        throw SigningError.statusNotAnswered(cause: "the issuer is not part of this chain")
      }
      let issuer = isAboutLeaf ? chain.intermediate : chain.root
      let data = try Self.responseData(
        responder: Self.hash(issuer.key), certificateIdentifier: identifier.encoded,
        status: isAboutLeaf ? leaf : intermediate, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
      let signature = try issuer.key.signature(for: data).derRepresentation
      return try Self.response(data: data, signature: Array(signature))
    } catch let error as SigningError {
      throw error
    } catch {
      throw SigningError.statusNotAnswered(cause: String(describing: error))
    }
  }

  private static func hash(_ key: P384.Signing.PrivateKey) -> [UInt8] {
    Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
  }

  /// The hashes of a key by which requests name an issuer. Apple's Python library uses SHA-256, others SHA-1.
  private static func hashes(_ key: P384.Signing.PrivateKey) -> [[UInt8]] {
    [hash(key), Array(SHA256.hash(data: key.publicKey.x963Representation))]
  }
}

// The ASN.1 of requests and responses (RFC 6960, section 4).
extension OCSPResponder {
  private static let basicResponse: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 1]
  private static let ecdsaWithSHA384: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 3]

  private static func context(_ number: UInt) -> ASN1Identifier {
    ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
  }

  private static func children(_ node: ASN1Node?) throws -> [ASN1Node] {
    guard let node, case .constructed(let nodes) = node.content else {
      throw SigningError.statusNotAnswered(cause: "the request is truncated")
    }
    return Array(nodes)
  }

  private static func certificateIdentifier(
    in request: [UInt8]
  ) throws -> (encoded: [UInt8], issuerKeyHash: [UInt8]) {
    let toBeSigned = try children(children(DER.parse(request)).first)
    let requests = try children(toBeSigned.first { $0.identifier == .sequence })
    guard let identifier = try children(requests.first).first else {
      throw SigningError.statusNotAnswered(cause: "the request names no certificate")
    }
    let parts = try children(identifier)
    guard parts.count == 4 else {
      throw SigningError.statusNotAnswered(cause: "the certificate identifier has \(parts.count) parts instead of 4")
    }
    return (Array(identifier.encodedBytes), Array(try ASN1OctetString(derEncoded: parts[2]).bytes))
  }

  private static func responseData(
    responder: [UInt8], certificateIdentifier: [UInt8], status: Status, thisUpdate: Timestamp, nextUpdate: Timestamp
  ) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try serializer.appendConstructedNode(identifier: .sequence) { data in
      try data.appendConstructedNode(identifier: context(2)) {
        try $0.serialize(ASN1OctetString(contentBytes: responder[...]))
      }
      append(thisUpdate, to: &data)
      try data.appendConstructedNode(identifier: .sequence) { responses in
        try responses.appendConstructedNode(identifier: .sequence) { single in
          single.serializeRawBytes(certificateIdentifier)
          try append(status, to: &single)
          append(thisUpdate, to: &single)
          single.appendConstructedNode(identifier: context(0)) { append(nextUpdate, to: &$0) }
        }
      }
    }
    return serializer.serializedBytes
  }

  private static func append(_ status: Status, to serializer: inout DER.Serializer) throws {
    switch status {
    case .good: serializer.appendPrimitiveNode(identifier: context(0)) { _ in }
    case .unknown: serializer.appendPrimitiveNode(identifier: context(2)) { _ in }
    case .revoked(let date):
      serializer.appendConstructedNode(identifier: context(1)) { append(date, to: &$0) }
    }
  }

  private static func append(_ date: Timestamp, to serializer: inout DER.Serializer) {
    let digits = date.rfc3339.utf8.prefix(19).filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    serializer.appendPrimitiveNode(identifier: .generalizedTime) { $0.append(contentsOf: digits + [UInt8(ascii: "Z")]) }
  }

  private static func response(data: [UInt8], signature: [UInt8]) throws -> [UInt8] {
    var basic = DER.Serializer()
    try basic.appendConstructedNode(identifier: .sequence) { basic in
      basic.serializeRawBytes(data)
      try basic.appendConstructedNode(identifier: .sequence) { try $0.serialize(ecdsaWithSHA384) }
      try basic.serialize(ASN1BitString(bytes: signature[...]))
    }
    let basicBytes = basic.serializedBytes
    var response = DER.Serializer()
    try response.appendConstructedNode(identifier: .sequence) { response in
      response.appendPrimitiveNode(identifier: .enumerated) { $0.append(0) }
      try response.appendConstructedNode(identifier: context(0)) { explicit in
        try explicit.appendConstructedNode(identifier: .sequence) { bytes in
          try bytes.serialize(basicResponse)
          try bytes.serialize(ASN1OctetString(contentBytes: basicBytes[...]))
        }
      }
    }
    return response.serializedBytes
  }
}
