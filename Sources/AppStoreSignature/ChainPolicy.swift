// Apple's requirements for a chain beyond RFC 5280: three certificates and Apple's two marker extensions.
import SwiftASN1
import X509

/// Requires exactly a leaf, the intermediate that came with it and a trusted root. Apple's marker extensions must be
/// present; their values are ignored. Key usages, if stated, must permit the certificates' purposes.
struct AppleChainPolicy: VerifierPolicy {
  static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
  static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

  let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = []

  func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
    guard chain.count == TokenHeader.chainLength else {
      return .failsToMeetPolicy(reason: "not leaf, intermediate and root")
    }
    let certificates = Array(chain)
    let (leaf, intermediate) = (certificates[0], certificates[1])
    guard intermediate.extensions[oid: Self.intermediateMarker] != nil else {
      return .failsToMeetPolicy(reason: "the intermediate lacks Apple's marker")
    }
    guard leaf.extensions[oid: Self.leafMarker] != nil else {
      return .failsToMeetPolicy(reason: "the leaf lacks Apple's marker")
    }
    do {
      if let usage = try leaf.extensions.keyUsage, !usage.digitalSignature {
        return .failsToMeetPolicy(reason: "the leaf's key usage does not permit signatures")
      }
      for issuer in certificates.dropFirst() {
        if let usage = try issuer.extensions.keyUsage, !usage.keyCertSign {
          return .failsToMeetPolicy(reason: "an issuer's key usage does not permit signing certificates")
        }
      }
    } catch {
      return .failsToMeetPolicy(reason: "a key usage cannot be read")
    }
    return .meetsPolicy
  }
}
