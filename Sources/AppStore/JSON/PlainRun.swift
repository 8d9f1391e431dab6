// Finds the end of a string, where a JSON parser spends most of its time: a notification consists mainly of two strings
// of six kilobytes. It compares words of eight bytes. The standard library's SIMD types are processed lane by lane and
// were sixty times slower.

/// Returns the offset of the first byte at or after `start` that must be escaped in a JSON string: a quotation mark, a
/// backslash or a control character below 0x20. Returns `bytes.count` if there is none.
///
/// Never reads outside `bytes`.
func endOfPlainRun(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
  let count = bytes.count
  guard let base = bytes.baseAddress else { return count }
  var offset = start
  while count - offset >= 32 {
    let a = specials(base, offset)
    let b = specials(base, offset + 8)
    let c = specials(base, offset + 16)
    let d = specials(base, offset + 24)
    if ((a | b) | (c | d)) & highBits != 0 { break }
    offset += 32
  }
  while count - offset >= 8 {
    let found = specials(base, offset) & highBits
    if found != 0 { return offset + found.trailingZeroBitCount / 8 }
    offset += 8
  }
  while offset < count {
    let byte = bytes[offset]
    if byte == 0x22 || byte == 0x5C || byte < 0x20 { return offset }
    offset += 1
  }
  return count
}

private let ones: UInt64 = 0x0101_0101_0101_0101
private let highBits: UInt64 = 0x8080_8080_8080_8080

/// Sets the high bit of every special byte. The result is exact for the first special byte in memory order, which is
/// sufficient: a borrow can only make later bytes look special. The other bits have no meaning. The caller guarantees
/// that eight bytes are available.
@inline(__always)
private func specials(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
  let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  let quote = word ^ (ones &* 0x22)
  let backslash = word ^ (ones &* 0x5C)
  return ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- ones &* 0x20) & ~word)
}
