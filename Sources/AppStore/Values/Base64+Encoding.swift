// The encoder, for tokens that the project signs itself: for the API, in tests and in the demo.

extension Base64 {
  /// Encodes to base64url (RFC 4648, section 5) without padding, as in a JWS.
  public static func encodeURL(_ bytes: some Collection<UInt8>) -> [UInt8] {
    encode(bytes, .url, padded: false)
  }

  /// Encodes to standard Base64 (RFC 4648, section 4) with padding, as in `x5c`.
  public static func encodeStandard(_ bytes: some Collection<UInt8>) -> [UInt8] {
    encode(bytes, .standard, padded: true)
  }

  private static func encode(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet, padded: Bool) -> [UInt8] {
    let bytes = ContiguousArray(bytes)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      let second = count > 1 ? UInt32(bytes[index + 1]) : 0
      let third = count > 2 ? UInt32(bytes[index + 2]) : 0
      let group = UInt32(bytes[index]) << 16 | second << 8 | third
      for position in 0...count {
        text.append(character(of: UInt8(truncatingIfNeeded: group >> (18 - 6 * UInt32(position))) & 0x3F, alphabet))
      }
      if padded { text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - count)) }
      index += 3
    }
    return text
  }

  private static func character(of sextet: UInt8, _ alphabet: Alphabet) -> UInt8 {
    switch sextet {
    case 0..<26: UInt8(ascii: "A") + sextet
    case 26..<52: UInt8(ascii: "a") + (sextet - 26)
    case 52..<62: UInt8(ascii: "0") + (sextet - 52)
    case 62: alphabet.char62
    default: alphabet.char63
    }
  }
}
