// Compares the scans by words with the standard library, at every length and position near the bounds of a word.
import AppStore
import Testing

@Suite("Byte scanning")
struct ByteScanningTests {
  @Test("finds the first of several bytes, at every offset and length")
  func offset() {
    for count in 0..<40 {
      for position in 0...count {
        // Bytes that differ from the searched byte in one bit or by one, and a second match after the first.
        var bytes = (0..<count).map { [UInt8(0x2F), 0x2D, 0xAE, 0x00, 0xFF, 0x6E, 0x2C][$0 % 7] }
        if position < count { bytes[position] = 0x2E }
        if position + 3 < count { bytes[position + 3] = 0x2E }
        let found = bytes.withUnsafeBytes { $0.offset(of: 0x2E) }
        #expect(found == bytes.firstIndex(of: 0x2E))
      }
    }
  }

  @Test("tells ASCII from other bytes, at every offset and length")
  func ascii() {
    for count in 0..<40 {
      var bytes = [UInt8](repeating: 0x7F, count: count)
      #expect(bytes.withUnsafeBytes { $0.isASCII })
      for position in 0..<count {
        bytes[position] = 0x80
        #expect(!bytes.withUnsafeBytes { $0.isASCII })
        bytes[position] = 0x00
      }
    }
  }

  @Test(
    "accepts exactly the UTF-8 that the standard library accepts",
    arguments: [
      "", "plain", "naïve — 12 €", "🧾 and more than eight bytes of text", "\u{0}\u{7F}",
    ])
  func text(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(String(utf8: bytes) == text)
    for position in bytes.indices {
      for byte: UInt8 in [0x80, 0xC0, 0xED, 0xF5, 0xFF, 0x41] {
        var changed = bytes
        changed[position] = byte
        #expect(String(utf8: changed) == String(validating: changed, as: UTF8.self))
      }
    }
  }
}
