// Correctly signed tokens whose certificates use unsupported algorithms, as after a change of Apple's certificates.
import AppStore

extension Forgeries {
  func ofAlgorithms() throws(SigningError) -> [Forgery] {
    let payload = try payload()
    func forgery(_ label: String, leaf: [UInt8], intermediate: [UInt8]) throws(SigningError) -> Forgery {
      Forgery(
        label, try chain.sign(payload, header: chain.header(x5c: [leaf, intermediate, chain.rootDER])),
        .refused("chain"), isOnlyChainFault: true)
    }
    var forgeries: [Forgery] = []
    for algorithm in ForeignAlgorithm.signatures {
      forgeries.append(
        try forgery(
          "leaf-signed-with-\(algorithm.label)",
          leaf: CertificateRewriting.rewrite(chain.leafDER, signature: algorithm), intermediate: chain.intermediateDER))
    }
    for algorithm in ForeignAlgorithm.keys {
      forgeries.append(
        try forgery(
          "intermediate-key-\(algorithm.label)", leaf: chain.leafDER,
          intermediate: CertificateRewriting.rewrite(chain.intermediateDER, key: algorithm)))
    }
    if let signature = ForeignAlgorithm.signatures.first, let key = ForeignAlgorithm.keys.first {
      forgeries.append(
        try forgery(
          "authorities-all-\(key.label)",
          leaf: CertificateRewriting.rewrite(chain.leafDER, signature: signature),
          intermediate: CertificateRewriting.rewrite(chain.intermediateDER, signature: signature, key: key)))
      // A key that cannot make ES256 signatures is a fault of the signature, not of the chain.
      forgeries.append(
        Forgery(
          "leaf-key-\(key.label)",
          try chain.sign(
            payload,
            header: chain.header(x5c: [
              CertificateRewriting.rewrite(chain.leafDER, key: key), chain.intermediateDER, chain.rootDER,
            ])),
          .refused("signature")))
    }
    return forgeries
  }
}
