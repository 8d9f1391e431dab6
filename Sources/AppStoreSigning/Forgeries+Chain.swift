// Correctly signed tokens whose chains do not lead to the trusted root, lack Apple's markers, or were not valid at the
// time.
import AppStore

extension Forgeries {
  func ofChain() throws(SigningError) -> [Forgery] {
    let (from, to) = (signedDate + .seconds(-86_400), signedDate + .seconds(86_400))
    let payload = try payload()
    let sameName = try SigningChain.generate(notBefore: from, notAfter: to, shape: chain.shape)
    let unmarked = try chain.rotatingLeaf(
      notBefore: from, notAfter: to, shape: with(chain.shape) { $0.leafMarker = nil })
    let wronglyMarked = try chain.rotatingLeaf(
      notBefore: from, notAfter: to, shape: with(chain.shape) { $0.leafMarker = ChainShape.appleIntermediateMarker })
    let unmarkedIntermediate = try chain.rotatingIntermediate(
      notBefore: from, notAfter: to, shape: with(chain.shape) { $0.intermediateMarker = nil })
    let lapsed = try chain.rotatingLeaf(notBefore: from, notAfter: signedDate + .seconds(-1))
    let early = try chain.rotatingLeaf(notBefore: signedDate + .seconds(1), notAfter: to)
    func misplaced(_ label: String, _ x5c: [[UInt8]], isOnlyChainFault: Bool) throws(SigningError) -> Forgery {
      Forgery(
        label, try chain.sign(payload, header: chain.header(x5c: x5c)), .refused("chain"),
        isOnlyChainFault: isOnlyChainFault)
    }
    func signed(_ label: String, by other: SigningChain) throws(SigningError) -> Forgery {
      Forgery(label, try other.sign(payload), .refused("chain"), isOnlyChainFault: true)
    }
    return [
      try signed("other-root-same-name", by: sameName),
      try signed("leaf-without-marker", by: unmarked),
      try signed("leaf-with-wrong-marker", by: wronglyMarked),
      try signed("intermediate-without-marker", by: unmarkedIntermediate),
      try signed("leaf-expired-at-signed-date", by: lapsed),
      try signed("leaf-not-yet-valid-at-signed-date", by: early),
      try misplaced(
        "certificates-swapped", [chain.intermediateDER, chain.leafDER, chain.rootDER], isOnlyChainFault: false),
      try misplaced("intermediate-is-root", [chain.leafDER, chain.rootDER, chain.rootDER], isOnlyChainFault: true),
      try misplaced("intermediate-is-leaf", [chain.leafDER, chain.leafDER, chain.rootDER], isOnlyChainFault: true),
      try misplaced(
        "intermediate-of-another", [chain.leafDER, sameName.intermediateDER, chain.rootDER], isOnlyChainFault: true),
    ]
  }
}
