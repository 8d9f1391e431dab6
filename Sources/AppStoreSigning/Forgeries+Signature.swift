// Invalid signatures: by another key, over other data, or not in ES256 form.
import AppStore

extension Forgeries {
  func ofSignature() throws(SigningError) -> [Forgery] {
    let segments = Self.segments(try genuine())
    let input = Array(segments[0] + [UInt8(ascii: ".")] + segments[1])
    let stranger = try SigningChain.generate(at: signedDate)
    let raw = try chain.rawSignature(over: input)
    func signed(_ label: String, _ signature: [UInt8]) -> Forgery {
      Forgery(label, SigningChain.token(signingInput: input, signature: signature), .refused("signature"))
    }
    let zeros = [UInt8](repeating: 0, count: 32)
    var tampered = try payload()
    if let index = tampered.lastIndex(of: UInt8(ascii: "2")) { tampered[index] = UInt8(ascii: "3") }
    let otherHeader = Text.base64URL(chain.header(extra: ",\"typ\":\"JWT\""))
    let shape = with(chain.shape) { $0.leafKey = .p384 }
    let p384 = try chain.rotatingLeaf(notBefore: signedDate, notAfter: signedDate + .seconds(86_400), shape: shape)
    return [
      signed("wrong-signer", try stranger.rawSignature(over: input)),
      signed("der-signature", try chain.derSignature(over: input)),
      signed("psychic-signature", zeros + zeros),
      signed("zero-r", zeros + raw.suffix(32)),
      signed("zero-s", raw.prefix(32) + zeros),
      signed("r-is-order", Self.order + raw.suffix(32)),
      signed("s-is-order", raw.prefix(32) + Self.order),
      signed("signature-empty", []),
      signed("signature-short", raw.dropLast()),
      signed("signature-long", raw + [0]),
      signed("r-and-s-swapped", raw.suffix(32) + raw.prefix(32)),
      Forgery(
        "payload-tampered", Self.join([segments[0], Text.base64URL(tampered), segments[2]]), .refused("signature")),
      Forgery("header-tampered", Self.join([otherHeader, segments[1], segments[2]]), .refused("signature")),
      Forgery("leaf-p384", try p384.sign(try payload()), .refused("signature")),
    ]
  }

  /// The order of the P-256 group, the smallest invalid value of r and s.
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  func with(_ shape: ChainShape, _ change: (inout ChainShape) -> Void) -> ChainShape {
    var changed = shape
    change(&changed)
    return changed
  }
}
