import AppStoreSigning
import Testing

@testable import AppStore

struct PlainRunTests {
  @Test func theFirstSpecialByteIsFoundAtEveryPositionAndFromEveryStart() {
    for special: UInt8 in [0x22, 0x5C, 0x00, 0x1F, 0x0A] {
      for count in [1, 7, 8, 9, 31, 32, 33, 40, 70] {
        for position in 0..<count {
          var bytes = [UInt8](repeating: 0x61, count: count)
          bytes[position] = special
          for start in 0...count {
            let found = bytes.withUnsafeBytes { endOfPlainRun($0, from: start) }
            #expect(found == (start <= position ? position : count))
          }
        }
      }
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func randomBytesGiveWhatLookingAtEachByteGives(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      // Mostly bytes next to the special ones, because the arithmetic is most error-prone there.
      let delicate: [UInt8] = [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F, 0x80, 0x9F, 0xA0, 0xA2, 0xDC, 0xFF, 0x61]
      var bytes = (0..<Int.random(in: 0...90, using: &random)).map { _ in delicate.randomElement(using: &random) ?? 0x61
      }
      if !bytes.isEmpty, Bool.random(using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let slow = bytes.firstIndex { $0 == 0x22 || $0 == 0x5C || $0 < 0x20 } ?? bytes.count
      #expect(bytes.withUnsafeBytes { endOfPlainRun($0, from: 0) } == slow)
    }
  }
}
