enum TestImages {
  /// The first bytes of a PNG with these dimensions. Color type 2 has no alpha channel, 6 has one.
  static func png(_ width: UInt32 = 3_840, _ height: UInt32 = 160, colorType: UInt8 = 2) -> [UInt8] {
    func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
    return [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82] + bytes(width) + bytes(height)
      + [8, colorType, 0, 0, 0] + [0, 0, 0, 0]
  }
}
