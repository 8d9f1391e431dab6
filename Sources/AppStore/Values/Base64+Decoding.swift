// The decoder: eight characters at a time by table, the rest one by one. A notification's payload is 13 000 characters
// that are decoded for each request, and its inner tokens as many again.

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

  /// Decodes blocks of eight characters to six bytes while there is room for the eight that one step writes: the two
  /// surplus bytes are written again by the next step. Returns how far it came, or nil at a wrong character.
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

  /// Four characters, the first in the low byte, to three bytes, the first in the low byte.
  @inline(__always)
  private static func group(_ text: UInt32, _ table: UnsafeBufferPointer<UInt32>) -> UInt32 {
    let a = table[Int(text & 0xFF)]
    let b = table[256 + Int(text &>> 8 & 0xFF)]
    let c = table[512 + Int(text &>> 16 & 0xFF)]
    let d = table[768 + Int(text &>> 24)]
    return (a | b) | (c | d)
  }

  /// Decodes what is left, character by character; returns the number of bytes written in all.
  private static func decodeRest(
    _ input: UnsafeRawBufferPointer, from read: Int, into output: UnsafeMutableRawBufferPointer, at start: Int,
    _ table: UnsafeBufferPointer<UInt32>
  ) -> Int? {
    var written = start
    var bits: UInt32 = 0
    var bitCount = 0
    for index in read..<input.count {
      // The fourth quarter holds the bare value, in the third byte.
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

  /// Set in the table for every byte that is no character of the alphabet.
  private static let invalid: UInt32 = 0x8000_0000

  /// Four times 256 entries: what a character contributes to a group of three bytes as its first, second, third and
  /// fourth character. The contributions of four characters are joined by OR.
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
