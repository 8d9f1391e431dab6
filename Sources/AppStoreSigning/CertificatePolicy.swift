// The certificate policies extension of the leaf. Verifiers ignore it. It is included because it makes up a third of
// the size of Apple's leaf, and every token contains the leaf.
import SwiftASN1
import X509

enum CertificatePolicy {
  private static let policies: ASN1ObjectIdentifier = [2, 5, 29, 32]
  private static let receiptSigning: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 5, 6, 1]
  private static let userNotice: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 2, 2]
  private static let practiceStatement: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 2, 1]
  private static let notice = """
    No reliance on this certificate by any party is intended: a test made it, for a test, and it vouches for nothing. \
    Terms of use, certificate policy and certification practice statements do not exist.
    """

  static func certificateExtension() throws -> Certificate.Extension {
    var serializer = DER.Serializer()
    try serializer.appendConstructedNode(identifier: .sequence) { policies in
      try policies.appendConstructedNode(identifier: .sequence) { policy in
        try policy.serialize(receiptSigning)
        try policy.appendConstructedNode(identifier: .sequence) { qualifiers in
          try qualifiers.appendConstructedNode(identifier: .sequence) { qualifier in
            try qualifier.serialize(userNotice)
            try qualifier.appendConstructedNode(identifier: .sequence) { try $0.serialize(ASN1UTF8String(notice)) }
          }
          try qualifiers.appendConstructedNode(identifier: .sequence) { qualifier in
            try qualifier.serialize(practiceStatement)
            try qualifier.serialize(ASN1IA5String("http://certs.millrace.invalid/practice-statement"))
          }
        }
      }
    }
    return Certificate.Extension(oid: policies, critical: false, value: serializer.serializedBytes[...])
  }
}
