import AppStore
import AppStoreSigning
import Foundation
import Testing

struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func theExamplesOfRFC4648(plain: String, encoded: String) {
    let bytes = Array(plain.utf8)
    let unpadded = encoded.filter { $0 != "=" }
    #expect(Base64.encodeStandard(bytes) == Array(encoded.utf8))
    #expect(Base64.decodeStandard(Array(encoded.utf8)) == bytes)
    #expect(Base64.encodeURL(bytes) == Array(unpadded.utf8))
    #expect(Base64.decodeURL(Array(unpadded.utf8)) == bytes)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func everyLengthAgreesWithFoundation(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for count in 0...150 {
      let bytes = random.bytes(count)
      let standard = Data(bytes).base64EncodedString()
      let url = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
      #expect(Base64.encodeStandard(bytes) == Array(standard.utf8))
      #expect(Base64.decodeStandard(Array(standard.utf8)) == bytes)
      #expect(Base64.encodeURL(bytes) == Array(url.utf8))
      #expect(Base64.decodeURL(Array(url.utf8)) == bytes)
      #expect(Base64.decodedCount(ofUnpadded: url.utf8.count) == count)
    }
  }

  @Test func everyByteOutsideOfTheAlphabetIsRefusedAtEveryPlace() {
    let valid = Array("QUJDREVGR0hJSktMTU5PUFFS".utf8)
    let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    for place in valid.indices {
      for byte in UInt8.min...UInt8.max {
        var text = valid
        text[place] = byte
        let isLetter = letters.contains(byte)
        #expect((Base64.decodeURL(text) != nil) == (isLetter || byte == 0x2D || byte == 0x5F), "\(byte) at \(place)")
        // Padding at the end is refused too, because the F before it leaves unused bits.
        #expect(
          (Base64.decodeStandard(text) != nil) == (isLetter || byte == 0x2B || byte == 0x2F), "\(byte) at \(place)")
      }
    }
  }

  @Test(arguments: ["Zg==", "Zm8=", "Zm9v=", "Zm9v====", "Z", "Zm9vY", "Zh", "Zm9", "Zm 9v", "Zm9v\n", "=", "Zm=v"])
  func paddingImpossibleLengthsAndBitsLeftOverAreNoBase64URL(text: String) {
    #expect(Base64.decodeURL(Array(text.utf8)) == nil)
  }

  @Test(arguments: ["Zg", "Zm8", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v=", "=Zm9", "====", "=", "Z===", "Zg==Zg=="])
  func standardBase64DemandsItsPaddingAndNoBitsLeftOver(text: String) {
    #expect(Base64.decodeStandard(Array(text.utf8)) == nil)
  }

  @Test func decodingWritesIntoTheRoomGivenAndNeverBeyond() {
    for count in [0, 1, 2, 3, 5, 6, 8, 11, 12, 30, 31] {
      let bytes = [UInt8](repeating: 0xA5, count: count)
      let text = Base64.encodeURL(bytes)
      for room in 0...(count + 9) {
        var output = [UInt8](repeating: 0x11, count: room + 16)
        let written = text.withUnsafeBytes { input in
          output.withUnsafeMutableBytes { buffer in
            Base64.decodeURL(input, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]))
          }
        }
        #expect(written == (room >= count ? count : nil))
        if written != nil { #expect(Array(output[..<count]) == bytes) }
        #expect(output[room...].allSatisfy { $0 == 0x11 })
      }
    }
  }

  @Test func aCollectionInPiecesDecodesLikeOneInAPiece() {
    #expect(Base64.decodeURL(Array("Zm9vYmFy".utf8).lazy.filter { _ in true }) == Array("foobar".utf8))
    #expect(Base64.decodeURL("Zm9vYmFy".utf8) == Array("foobar".utf8))
    #expect(Base64.decodeStandard("Zm9vYg==".utf8) == Array("foob".utf8))
  }
}
