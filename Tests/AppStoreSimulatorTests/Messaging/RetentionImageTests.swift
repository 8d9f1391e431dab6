import Testing

@testable import AppStoreSimulator

@Suite struct RetentionImageTests {
  @Test(arguments: [
    (3_840, 160, true), (3_840, 2_160, true), (3_840, 159, false), (3_840, 2_161, false), (3_839, 160, false),
    (1, 1, false), (0, 160, false),
  ])
  func `a full-size image has 3840 by 160 to 2160 pixels`(width: UInt32, height: UInt32, isAcceptable: Bool) {
    #expect((PNGHeader(TestImages.png(width, height))?.isAcceptable(as: .fullSize) ?? false) == isAcceptable)
  }

  @Test(arguments: [(0, true), (2, true), (3, true), (4, false), (6, false), (1, false), (7, false)])
  func `transparency is not accepted`(colorType: UInt8, isAcceptable: Bool) {
    let header = PNGHeader(TestImages.png(100, 100, colorType: colorType))
    #expect((header?.isAcceptable(as: .bulletPoint) ?? false) == isAcceptable)
  }

  @Test func `data that is not a PNG has no header, at any length`() {
    let png = TestImages.png()
    for count in 0..<33 { #expect(PNGHeader(Array(png.prefix(count))) == nil) }
    var other = png
    other[1] = 81
    #expect(PNGHeader(other) == nil)
  }

  @Test func `the default size is full, and unknown sizes are refused`() throws {
    #expect(try RetentionImageSize(query: nil) == .fullSize)
    #expect(try RetentionImageSize(query: "BULLET_POINT") == .bulletPoint)
    #expect(throws: APIFailure.badRequestImageSize) { try RetentionImageSize(query: "full_size") }
  }
}
