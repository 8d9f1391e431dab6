// A seed determines the sequence and yields well-formed identifiers.
import AppStoreSigning
import Testing

@Suite("Seeded generator")
struct SeededGeneratorTests {
  @Test("seed 0 gives the sequence of SplitMix64")
  func knownSequence() {
    var generator = SeededGenerator(seed: 0)
    #expect(generator.next() == 0xE220_A839_7B1D_CDAF)
    #expect(generator.next() == 0x6E78_9E6A_A1B9_65F4)
  }

  @Test("UUIDs are version 4 in lower case")
  func uuids() {
    var generator = SeededGenerator(seed: 42)
    for _ in 0..<100 {
      let uuid = Array(generator.uuid().utf8)
      #expect(uuid.count == 36)
      #expect(uuid[14] == UInt8(ascii: "4"))
      #expect("89ab".utf8.contains(uuid[19]))
      #expect([8, 13, 18, 23].allSatisfy { uuid[$0] == UInt8(ascii: "-") })
      #expect(uuid.allSatisfy { "0123456789abcdef-".utf8.contains($0) })
    }
  }

  @Test("numbers have the requested digits and keep their prefix")
  func digits() {
    var generator = SeededGenerator(seed: 42)
    #expect(generator.digits(16, startingWith: "2000000").utf8.count == 16)
    #expect(generator.digits(3).first != "0")
  }
}
