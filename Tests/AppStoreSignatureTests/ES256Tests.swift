@testable import AppStoreSignature
import Testing

@Suite("ES256")
struct ES256Tests {
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  private func number(_ small: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 31) + [small] }

  @Test("r and s have to be from 1 to n - 1")
  func range() {
    var below = Self.order
    below[31] -= 1
    var above = Self.order
    above[31] += 1
    #expect(ES256.isScalar(number(1)[...]))
    #expect(ES256.isScalar(below[...]))
    #expect(!ES256.isScalar(number(0)[...]))
    #expect(!ES256.isScalar(Self.order[...]))
    #expect(!ES256.isScalar(above[...]))
    #expect(!ES256.isScalar([UInt8](repeating: 0xFF, count: 32)[...]))
  }
}
