/// A random number generator with a reproducible sequence (SplitMix64), for samples and for tests that print their
/// seed.
///
/// Do not use it for keys that protect anything.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts the sequence for `seed`.
  public init(seed: UInt64) {
    state = seed
  }

  /// Returns the next 64 bits of the sequence.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a version 4 UUID in lower case, as Apple writes `notificationUUID`.
  public mutating func uuid() -> String {
    var bytes: [UInt8] = []
    for _ in 0..<2 {
      let word = next()
      for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    var text = ""
    for (index, byte) in bytes.enumerated() {
      var value = byte
      if index == 6 { value = value & 0x0F | 0x40 }
      if index == 8 { value = value & 0x3F | 0x80 }
      if [4, 6, 8, 10].contains(index) { text += "-" }
      if value < 16 { text += "0" }
      text += String(value, radix: 16)
    }
    return text
  }

  /// Returns a decimal number of exactly `digits` digits without a leading zero, like Apple's identifiers.
  public mutating func digits(_ digits: Int, startingWith prefix: String = "") -> String {
    var text = prefix
    while text.utf8.count < digits {
      text += String(UInt8.random(in: (text.isEmpty ? 1 : 0)...9, using: &self))
    }
    return text
  }
}
