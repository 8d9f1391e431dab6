// Creates certificates with algorithms that swift-certificates neither signs with nor parses, by replacing parts of a
// valid certificate.
import SwiftASN1

/// An algorithm: its `AlgorithmIdentifier` in DER and the length of its keys or signatures in bytes.
struct ForeignAlgorithm: Sendable {
  var label: String
  private var object: [UInt8]
  private var parameters: [UInt8] = []
  private var length: Int

  /// Signature algorithms.
  static let signatures = [
    // 2.16.840.1.101.3.4.3.18
    ForeignAlgorithm(label: "ml-dsa-65", object: nist + [0x03, 0x12], length: 3309),
    // 1.3.101.113
    ForeignAlgorithm(label: "ed448", object: [0x2B, 0x65, 0x71], length: 114),
    // 1.2.840.113549.1.1.10, with all its defaults
    ForeignAlgorithm(label: "rsa-pss", object: rsa + [0x0A], parameters: [0x30, 0x00], length: 256),
    // 1.2.840.113549.1.1.14
    ForeignAlgorithm(label: "rsa-sha224", object: rsa + [0x0E], parameters: [0x05, 0x00], length: 256),
    // 1.2.840.10045.4.3.1
    ForeignAlgorithm(label: "ecdsa-sha224", object: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x01], length: 72),
    // 2.16.840.1.101.3.4.3.11
    ForeignAlgorithm(label: "ecdsa-sha3-384", object: nist + [0x03, 0x0B], length: 104),
  ]

  /// Key algorithms.
  static let keys = [
    ForeignAlgorithm(label: "ml-dsa-65", object: nist + [0x03, 0x12], length: 1952),
    ForeignAlgorithm(label: "ed448", object: [0x2B, 0x65, 0x71], length: 57),
    ForeignAlgorithm(label: "rsa-pss", object: rsa + [0x0A], length: 270),
    // id-ecPublicKey on 1.3.36.3.3.2.8.1.1.11
    ForeignAlgorithm(
      label: "brainpool-p384r1", object: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01],
      parameters: [0x06, 0x09, 0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0B], length: 97),
  ]

  private static let nist: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04]
  private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]

  /// The `AlgorithmIdentifier`.
  var identifier: [UInt8] { DERText.node(0x30, DERText.node(0x06, object) + parameters) }
  /// A meaningless key or signature of the correct length.
  var bits: [UInt8] { DERText.node(0x03, [0x00] + (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 4) }) }
}

/// Rewrites certificates.
enum CertificateRewriting {
  /// Returns the certificate with another signature, another key, or both. All other fields stay the same.
  static func rewrite(
    _ der: [UInt8], signature: ForeignAlgorithm? = nil, key: ForeignAlgorithm? = nil
  ) throws(SigningError) -> [UInt8] {
    let parts = try children(of: try root(of: der))
    guard parts.count == 3 else { throw misshapen }
    var fields = try children(of: parts[0]).map { Array($0.encodedBytes) }
    guard fields.count == 8 else { throw misshapen }
    if let signature { fields[2] = signature.identifier }
    if let key { fields[6] = DERText.node(0x30, key.identifier + key.bits) }
    let content = DERText.node(0x30, Array(fields.joined()))
    let seal = signature.map { $0.identifier + $0.bits } ?? Array(parts[1].encodedBytes + parts[2].encodedBytes)
    return DERText.node(0x30, content + seal)
  }

  private static let misshapen = SigningError.certificateNotBuilt(
    certificate: "rewritten", cause: "the original certificate has unexpected parts")

  private static func root(of der: [UInt8]) throws(SigningError) -> ASN1Node {
    do { return try DER.parse(der) } catch { throw misshapen }
  }

  private static func children(of node: ASN1Node) throws(SigningError) -> [ASN1Node] {
    guard case .constructed(let nodes) = node.content else { throw misshapen }
    return Array(nodes)
  }
}

/// Encodes DER.
enum DERText {
  /// Encodes a tag, the length of `content`, and `content`.
  static func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = content.count
    repeat {
      length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    } while rest > 0
    let isShort = content.count < 0x80
    return [tag] + (isShort ? length : [0x80 | UInt8(truncatingIfNeeded: length.count)] + length) + content
  }
}
