// A chain survives export and import, and a rotation keeps its issuers.
import AppStore
import AppStoreSigning
import Testing

@Suite("Signing chain")
struct SigningChainTests {
  private let instant = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  @Test("a chain imported from PEM has the same certificates and can sign")
  func pemRoundTrip() throws {
    let chain = try SigningChain.generate(at: instant)
    let copy = try SigningChain(pem: chain.pem)
    #expect(copy.rootDER == chain.rootDER)
    #expect(copy.intermediateDER == chain.intermediateDER)
    #expect(copy.leafDER == chain.leafDER)
    #expect(try copy.sign(Array("{}".utf8)).split(separator: UInt8(ascii: ".")).count == 3)
  }

  @Test("no common name is longer than RFC 5280 allows")
  func commonNames() throws {
    let chain = try SigningChain.generate(at: instant)
    for der in [chain.leafDER, chain.intermediateDER, chain.rootDER] {
      // 2.5.4.3 as DER, then the tag and the length of its text.
      let name: [UInt8] = [0x06, 0x03, 0x55, 0x04, 0x03]
      let places = der.indices.dropLast(name.count + 1).filter { der[$0...].starts(with: name) }
      #expect(places.count == 2)
      for place in places { #expect(der[place + name.count + 1] <= 64) }
    }
  }

  @Test("a chain with a P-384 leaf survives PEM too")
  func pemRoundTripOfP384() throws {
    var shape = ChainShape()
    shape.leafKey = .p384
    let chain = try SigningChain.generate(at: instant, shape: shape)
    #expect(try SigningChain(pem: chain.pem).leafDER == chain.leafDER)
  }

  @Test("a truncated, damaged or shuffled PEM file is refused with a reason")
  func damagedPEM() throws {
    let chain = try SigningChain.generate(at: instant)
    let other = try SigningChain.generate(at: instant)
    let blocks = chain.pem.components(separatedBy: "-----BEGIN").dropFirst().map { "-----BEGIN" + $0 }
    let otherBlocks = other.pem.components(separatedBy: "-----BEGIN").dropFirst().map { "-----BEGIN" + $0 }
    let damaged = [
      "", chain.rootPEM, blocks.dropLast().joined(), blocks.reversed().joined(), "nothing of the kind",
      (blocks[0..<3] + [otherBlocks[3]] + blocks[4...]).joined(),
    ]
    for text in damaged {
      #expect(throws: SigningError.self) { try SigningChain(pem: text) }
    }
  }

  @Test("a seed determines the keys")
  func seeds() throws {
    let chain = try SigningChain.generate(at: instant, seed: 7)
    let again = try SigningChain.generate(at: instant, seed: 7)
    let other = try SigningChain.generate(at: instant, seed: 8)
    let keys = { (chain: SigningChain) in chain.pem.components(separatedBy: "PRIVATE KEY").dropFirst().joined() }
    #expect(keys(chain) == keys(again))
    #expect(keys(chain) != keys(other))
  }

  @Test("rotating the leaf keeps root and intermediate")
  func rotatingLeaf() throws {
    let chain = try SigningChain.generate(at: instant)
    let rotated = try chain.rotatingLeaf(notBefore: instant, notAfter: instant + .seconds(86_400))
    #expect(rotated.rootDER == chain.rootDER)
    #expect(rotated.intermediateDER == chain.intermediateDER)
    #expect(rotated.leafDER != chain.leafDER)
  }

  @Test("the header is alg and x5c in Apple's order, with three certificates in standard Base64")
  func header() throws {
    let chain = try SigningChain.generate(at: instant)
    let token = try chain.sign(Array("{}".utf8))
    let segment = try #require(token.split(separator: UInt8(ascii: ".")).first)
    let header = try JSONObject(parsing: try #require(Base64.decodeURL(segment)))
    #expect(header.members.map(\.key) == ["alg", "x5c"])
    #expect(header["alg"] == .string("ES256"))
    let certificates = [chain.leafDER, chain.intermediateDER, chain.rootDER].map {
      JSON.string(String(decoding: Base64.encodeStandard($0), as: UTF8.self))
    }
    #expect(header["x5c"] == .array(certificates))
  }
}

extension String {
  /// Splits by a string like Foundation. The standard library does that only with regular expressions.
  fileprivate func components(separatedBy separator: String) -> [String] {
    var parts: [String] = []
    var rest = self[...]
    while let range = rest.firstRange(of: separator) {
      parts.append(String(rest[..<range.lowerBound]))
      rest = rest[range.upperBound...]
    }
    return parts + [String(rest)]
  }
}
