// Parses strings. A string without escapes is copied as a whole; others are assembled piece by piece.

extension JSONParser {
  /// Parses a string. `offset` is at its opening quotation mark.
  mutating func string() throws(JSONError) -> String {
    offset += 1
    let start = offset
    let stop = endOfPlainRun(bytes, from: start)
    guard stop < bytes.count else { throw JSONError(.unexpectedEnd, at: stop) }
    guard bytes[stop] == UInt8(ascii: "\"") else { return try escapedString(from: start, firstSpecial: stop) }
    offset = stop + 1
    let text = UnsafeRawBufferPointer(rebasing: bytes[start..<stop])
    guard let string = String(utf8: text) else { throw invalidUTF8(in: start..<stop) }
    return string
  }

  private mutating func escapedString(from start: Int, firstSpecial: Int) throws(JSONError) -> String {
    var text: [UInt8] = []
    var runStart = start
    var special = firstSpecial
    while true {
      guard special < bytes.count else { throw JSONError(.unexpectedEnd, at: special) }
      text.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[runStart..<special]))
      offset = special
      switch bytes[special] {
      case UInt8(ascii: "\""):
        offset += 1
        guard let string = String(utf8: text) else { throw invalidUTF8(in: start..<special) }
        return string
      case UInt8(ascii: "\\"):
        try escape(into: &text)
      default:
        throw JSONError(.controlCharacter, at: special)
      }
      runStart = offset
      special = endOfPlainRun(bytes, from: offset)
    }
  }

  /// Parses an escape sequence. `offset` is at its backslash.
  private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
    let start = offset
    offset += 1
    let kind = try peek()
    offset += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: try scalar(escapedAt: start).utf8)
    default: throw JSONError(.invalidEscape, at: start)
    }
  }

  /// Returns the scalar of a `\u` escape, or of the surrogate pair that it begins. `offset` is after the `u`.
  ///
  /// JSON's grammar allows half a surrogate pair, which is not Unicode. It is replaced by U+FFFD; rejecting it would
  /// lose a whole payload because of one broken character in a display name.
  private mutating func scalar(escapedAt start: Int) throws(JSONError) -> Unicode.Scalar {
    let unit = try hexUnit(escapedAt: start)
    guard UTF16.isSurrogate(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
    guard UTF16.isLeadSurrogate(unit), offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
      bytes[offset + 1] == UInt8(ascii: "u")
    else { return "\u{FFFD}" }
    let lead = offset
    offset += 2
    let trail = try hexUnit(escapedAt: lead)
    guard UTF16.isTrailSurrogate(trail) else {
      // The second escape is not part of the pair and is parsed again.
      offset = lead
      return "\u{FFFD}"
    }
    return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
  }

  private mutating func hexUnit(escapedAt start: Int) throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      let byte = try peek()
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: throw JSONError(.invalidEscape, at: start)
      }
      unit = unit << 4 | UInt16(digit)
      offset += 1
    }
    return unit
  }

  /// Returns the error for the first byte in `range` that is not UTF-8. Escapes are ASCII, so the source text is valid
  /// UTF-8 exactly if the unescaped text is.
  private func invalidUTF8(in range: Range<Int>) -> JSONError {
    var position = range.lowerBound
    var iterator = bytes[range].makeIterator()
    var parser = UTF8.ForwardParser()
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { position += scalar.count }
    return JSONError(.invalidUTF8, at: position)
  }
}
