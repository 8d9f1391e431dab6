// Parses numbers as `Int64` if possible and otherwise keeps their text, so that nothing is rounded.

extension JSONParser {
  /// Parses a number. `offset` is at its first byte, a minus sign or a digit.
  mutating func number() throws(JSONError) -> JSON {
    let start = offset
    let negative = bytes[offset] == UInt8(ascii: "-")
    if negative { offset += 1 }
    let firstDigit = offset
    // Counts down from zero, because the negative half of Int64 is larger.
    var value: Int64 = 0
    var fits = true
    while let digit = digitHere() {
      let (product, overflowA) = value.multipliedReportingOverflow(by: 10)
      let (difference, overflowB) = product.subtractingReportingOverflow(Int64(digit))
      fits = fits && !overflowA && !overflowB
      value = difference
      offset += 1
    }
    guard offset > firstDigit else { throw invalid() }
    guard bytes[firstDigit] != UInt8(ascii: "0") || offset == firstDigit + 1 else {
      throw JSONError(.invalidNumber, at: firstDigit)
    }
    if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
      offset += 1
      try digits()
      fits = false
    }
    if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") { offset += 1 }
      try digits()
      fits = false
    }
    if fits, !(negative && value == 0), negative || value != .min {
      return .integer(negative ? value : -value)
    }
    return .number(String(decoding: bytes[start..<offset], as: UTF8.self))
  }

  private mutating func digits() throws(JSONError) {
    let start = offset
    while digitHere() != nil { offset += 1 }
    guard offset > start else { throw invalid() }
  }

  private func digitHere() -> UInt8? {
    guard offset < bytes.count else { return nil }
    let digit = bytes[offset] &- UInt8(ascii: "0")
    return digit <= 9 ? digit : nil
  }

  private func invalid() -> JSONError {
    offset < bytes.count ? JSONError(.invalidNumber, at: offset) : JSONError(.unexpectedEnd, at: offset)
  }
}
