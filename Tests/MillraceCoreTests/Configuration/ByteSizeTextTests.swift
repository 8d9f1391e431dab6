import Testing

@testable import MillraceCore

@Suite struct ByteSizeTextTests {
  @Test(arguments: [("0", 0), ("17", 17), ("17B", 17), ("256KiB", 262_144), ("2MiB", 2_097_152), ("1GiB", 1 << 30)])
  func `A whole number with a binary unit is a size`(text: String, expected: Int) {
    #expect(ByteSizeText.parse(text) == expected)
  }

  @Test(arguments: ["", "KiB", "1 KiB", "1kB", "1MB", "1.5MiB", "-1", "9999999999999GiB", "1kib"])
  func `Any other text is not a size`(text: String) {
    #expect(ByteSizeText.parse(text) == nil)
  }

  @Test(arguments: [0, 1, 1_023, 1_024, 1_536, 262_144, 1 << 30])
  func `A formatted size parses to the same size`(bytes: Int) {
    #expect(ByteSizeText.parse(ByteSizeText.text(bytes)) == bytes)
  }
}
