// The decoder: eight characters at a time by table, the rest one by one. Each request decodes a payload of 13 000
// characters and inner tokens of the same size.

extension Base64 {
  static func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ alphabet: Alphabet
  ) -> Int? {
    guard input.count % 4 != 1, output.count >= decodedCount(ofUnpadded: input.count) else { return nil }
    return alphabet.table.withUnsafeBufferPointer { table in
      guard let (read, written) = decodeBlocks(input, into: output, table) else { return nil }
      return decodeRest(input, from: read, into: output, at: written, table)
    }
  }

  /// Decodes blocks of eight characters to six bytes as long as there is room for the eight bytes that one step writes.
  /// The next step overwrites the two extra bytes. Returns the number of characters decoded, or nil at an invalid
  /// character.
  private static func decodeBlocks(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ table: UnsafeBufferPointer<UInt32>
  ) -> (read: Int, written: Int)? {
    guard let source = input.baseAddress, let target = output.baseAddress else { return (0, 0) }
    var read = 0
    var written = 0
    var flags: UInt32 = 0
    while input.count - read >= 8, output.count - written >= 8 {
      let text = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: read, as: UInt64.self))
      let first = group(UInt32(truncatingIfNeeded: text), table)
      let second = group(UInt32(truncatingIfNeeded: text &>> 32), table)
      flags |= first | second
      let bytes = UInt64(first) | UInt64(second) &<< 24
      target.storeBytes(of: bytes.littleEndian, toByteOffset: written, as: UInt64.self)
      read += 8
      written += 6
    }
    return flags & invalid == 0 ? (read, written) : nil
  }

  /// Decodes four characters to three bytes. The low byte is the first in both.
  @inline(__always)
  private static func group(_ text: UInt32, _ table: UnsafeBufferPointer<UInt32>) -> UInt32 {
    let a = table[Int(text & 0xFF)]
    let b = table[256 + Int(text &>> 8 & 0xFF)]
    let c = table[512 + Int(text &>> 16 & 0xFF)]
    let d = table[768 + Int(text &>> 24)]
    return (a | b) | (c | d)
  }

  /// Decodes the remaining characters one by one. Returns the total number of bytes written.
  private static func decodeRest(
    _ input: UnsafeRawBufferPointer, from read: Int, into output: UnsafeMutableRawBufferPointer, at start: Int,
    _ table: UnsafeBufferPointer<UInt32>
  ) -> Int? {
    var written = start
    var bits: UInt32 = 0
    var bitCount = 0
    for index in read..<input.count {
      // The fourth quarter of the table contains the plain value, in the third byte.
      let entry = table[768 + Int(input[index])]
      guard entry != invalid else { return nil }
      bits = bits &<< 6 | entry &>> 16
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      output[written] = UInt8(truncatingIfNeeded: bits &>> UInt32(bitCount))
      written += 1
      bits &= (1 &<< UInt32(bitCount)) - 1
    }
    return bits == 0 ? written : nil
  }

  /// Marks the bytes that are not in the alphabet.
  private static let invalid: UInt32 = 0x8000_0000

  /// A table of four times 256 entries. Each entry is the contribution of a character to a group of three bytes, as its
  /// first, second, third or fourth character. The contributions of four characters are combined by OR.
  static func makeTable(char62: UInt8, char63: UInt8) -> [UInt32] {
    var sextets = [UInt32?](repeating: nil, count: 256)
    let letters = [UInt8](UInt8(ascii: "A")...UInt8(ascii: "Z")) + [UInt8](UInt8(ascii: "a")...UInt8(ascii: "z"))
    let characters = letters + [UInt8](UInt8(ascii: "0")...UInt8(ascii: "9")) + [char62, char63]
    for (sextet, character) in characters.enumerated() { sextets[Int(character)] = UInt32(sextet) }
    let first = sextets.map { $0.map { $0 << 2 } ?? invalid }
    let second = sextets.map { $0.map { $0 >> 4 | ($0 & 0xF) << 12 } ?? invalid }
    let third = sextets.map { $0.map { ($0 >> 2) << 8 | ($0 & 0x3) << 22 } ?? invalid }
    let fourth = sextets.map { $0.map { $0 << 16 } ?? invalid }
    return first + second + third + fourth
  }
}
