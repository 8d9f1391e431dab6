// Faults that are detected before any cryptography: segments, base64url, header, algorithm, number of certificates.
import AppStore

extension Forgeries {
  func ofEnvelope() throws(SigningError) -> [Forgery] {
    let genuine = Self.segments(try genuine())
    let (header, payload, signature) = (genuine[0], genuine[1], genuine[2])
    let dotted = Self.join
    var forgeries = [
      Forgery("empty", [], .refused("format")),
      Forgery("two-segments", dotted([header, payload]), .refused("format")),
      Forgery("four-segments", dotted([header, payload, signature, signature]), .refused("format")),
      Forgery("header-not-base64url", dotted([[UInt8(ascii: "+")] + header, payload, signature]), .refused("format")),
      Forgery("payload-not-base64url", dotted([header, payload + Array("!".utf8), signature]), .refused("format")),
      Forgery("signature-padded", dotted([header, payload, signature + Array("==".utf8)]), .refused("format")),
      Forgery(
        "signature-not-canonical", dotted([header, payload, Self.withSpareBitSet(signature)]), .refused("format")),
      Forgery(
        "header-not-json", dotted([Text.base64URL(Array("hello".utf8)), payload, signature]), .refused("format")),
    ]
    let signedPayload = try self.payload()
    let purchase = purchase()
    forgeries += [
      // Every device holds tokens that Apple signed, but none of them is a notification.
      Forgery("transaction-for-notification", try chain.sign(purchase.transaction.bytes), .refused("format")),
      Forgery("renewal-info-for-notification", try chain.sign(purchase.renewalInfo.bytes), .refused("format")),
      Forgery("payload-not-json", try chain.sign(Array("not json".utf8)), .refused("format")),
      Forgery("payload-not-object", try chain.sign(Array("[1]".utf8)), .refused("format")),
      Forgery(
        "critical-extension",
        try chain.sign(signedPayload, header: chain.header(extra: ",\"crit\":[\"exp\"],\"exp\":1")),
        .refused("format")),
      Forgery("no-x5c", try chain.sign(signedPayload, header: Array("{\"alg\":\"ES256\"}".utf8)), .refused("format")),
      Forgery(
        "alg-none", dotted([Text.base64URL(chain.header(algorithm: "none")), payload, []]), .refused("algorithm")),
      Forgery(
        "alg-es384", try chain.sign(signedPayload, header: chain.header(algorithm: "ES384")), .refused("algorithm")),
      Forgery(
        "alg-hs256", try chain.sign(signedPayload, header: chain.header(algorithm: "HS256")), .refused("algorithm")),
      Forgery(
        "alg-lower-case", try chain.sign(signedPayload, header: chain.header(algorithm: "es256")),
        .refused("algorithm")),
      Forgery("x5c-empty", try chain.sign(signedPayload, header: chain.header(x5c: [])), .refused("chain-length")),
      Forgery(
        "x5c-leaf-only", try chain.sign(signedPayload, header: chain.header(x5c: [chain.leafDER])),
        .refused("chain-length"), isOnlyChainFault: true),
      Forgery(
        "x5c-four",
        try chain.sign(
          signedPayload,
          header: chain.header(x5c: [chain.leafDER, chain.intermediateDER, chain.rootDER, chain.rootDER])),
        .refused("chain-length"), isOnlyChainFault: true),
      Forgery(
        "x5c-leaf-garbage",
        try chain.sign(
          signedPayload, header: chain.header(x5c: [[0x30, 0x01], chain.intermediateDER, chain.rootDER])),
        .refused("certificate")),
      Forgery(
        "x5c-intermediate-garbage",
        try chain.sign(signedPayload, header: chain.header(x5c: [chain.leafDER, [0x30, 0x01], chain.rootDER])),
        .refused("certificate")),
    ]
    return forgeries
  }

  /// The last of the 86 characters contains four bits that must be zero. Setting one creates a second encoding of the
  /// same token.
  private static func withSpareBitSet(_ segment: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    guard let last = segment.last, let value = alphabet.firstIndex(of: last) else { return segment }
    return segment.dropLast() + [alphabet[value | 1]]
  }
}
