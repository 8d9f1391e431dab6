// Lower-case hexadecimal, for CloudEvents ids and W3C trace contexts.

package enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns two lower-case digits per byte.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the value of a lower-case digit; `nil` for anything else, including upper case.
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// Returns the bytes that an even number of lower-case digits represent; `nil` for anything else.
  @inline(__always)
  package static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
    let count = digits.count
    guard count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count / 2)
    var high: UInt8?
    for digit in digits {
      guard let value = value(digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}
