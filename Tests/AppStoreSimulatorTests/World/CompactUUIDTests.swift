import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct CompactUUIDTests {
  @Test func `the text is a version 4 UUID in lower case and is read back`() throws {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<200 {
      let uuid = CompactUUID(using: &generator)
      let text = uuid.text
      #expect(text.isUUID)
      #expect(text == text.lowercased())
      let bytes = Array(text.utf8)
      #expect(bytes[14] == UInt8(ascii: "4"))
      #expect(Array("89ab".utf8).contains(bytes[19]))
      #expect(CompactUUID(text) == uuid)
      #expect(CompactUUID(text.uppercased()) == uuid)
    }
  }

  @Test(arguments: ["", "x", "7e3fb20b-4cdb-47cc-936d-99d65f60813", "7e3fb20b4cdb-47cc-936d-99d65f608138-"])
  func `other text is not a UUID`(text: String) {
    #expect(CompactUUID(text) == nil)
  }

  @Test func `bits that differ from version 4 are kept`() {
    let text = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    #expect(CompactUUID(text)?.text == text)
  }
}
