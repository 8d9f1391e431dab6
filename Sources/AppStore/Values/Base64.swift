// Strict Base64 (RFC 4648), as signatures require: each value has exactly one text, and nothing is skipped.

/// Base64 and base64url. The decoder accepts only the alphabet of its variant, without white space or line breaks. The
/// bits after the last byte must be zero, so that no two texts decode to the same bytes.
public enum Base64 {
  /// The number of bytes that `count` characters without padding decode to.
  public static func decodedCount(ofUnpadded count: Int) -> Int {
    count / 4 * 3 + max(0, count % 4 - 1)
  }

  /// Decodes base64url (RFC 4648, section 5) without padding, as in a JWS (RFC 7515, section 2). Padding is rejected.
  ///
  /// - Parameters:
  ///   - input: the characters.
  ///   - output: room for at least ``decodedCount(ofUnpadded:)`` bytes.
  /// - Returns: the number of bytes written; nil if the input is not base64url or the buffer is too small. In that
  ///   case, the contents of `output` are undefined.
  public static func decodeURL(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
    decode(input, into: output, .url)
  }

  /// Decodes base64url without padding; nil if the input is invalid.
  public static func decodeURL(_ input: UnsafeRawBufferPointer) -> [UInt8]? {
    decoded(input, .url)
  }

  /// Decodes base64url without padding; nil if the input is invalid.
  public static func decodeURL(_ input: some Collection<UInt8>) -> [UInt8]? {
    withBytes(of: input) { decoded($0, .url) }
  }

  /// Decodes standard Base64 (RFC 4648, section 4) with padding, as in `x5c` (RFC 7515, section 4.1.6).
  ///
  /// - Returns: the bytes; nil if the input is invalid or its padding is missing.
  public static func decodeStandard(_ input: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let unpadded = withoutPadding(input) else { return nil }
    return decoded(unpadded, .standard)
  }

  /// Decodes standard Base64 with padding; nil if the input is invalid.
  public static func decodeStandard(_ input: some Collection<UInt8>) -> [UInt8]? {
    withBytes(of: input) { decodeStandard($0) }
  }

  /// Returns the input without its one or two padding characters; nil if their number is wrong.
  private static func withoutPadding(_ input: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard input.count % 4 == 0 else { return nil }
    var count = input.count
    while count > 0, input.count - count < 2, input[count - 1] == UInt8(ascii: "=") { count -= 1 }
    return UnsafeRawBufferPointer(rebasing: input[..<count])
  }

  private static func decoded(_ input: UnsafeRawBufferPointer, _ alphabet: Alphabet) -> [UInt8]? {
    let room = decodedCount(ofUnpadded: input.count)
    var valid = false
    let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      let written = decode(input, into: UnsafeMutableRawBufferPointer(buffer), alphabet)
      valid = written != nil
      count = written ?? 0
    }
    return valid ? bytes : nil
  }

  /// Passes the bytes of a collection to `body`, copying them only if they are not contiguous.
  private static func withBytes<Result>(
    of input: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if let result = input.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return Array(input).withUnsafeBytes(body)
  }

  /// The differences between the two variants.
  struct Alphabet: Sendable {
    let char62: UInt8
    let char63: UInt8
    /// For decoding; see ``makeTable(char62:char63:)``.
    let table: [UInt32]

    private init(_ char62: UInt8, _ char63: UInt8) {
      self.char62 = char62
      self.char63 = char63
      table = makeTable(char62: char62, char63: char63)
    }

    static let standard = Alphabet(UInt8(ascii: "+"), UInt8(ascii: "/"))
    static let url = Alphabet(UInt8(ascii: "-"), UInt8(ascii: "_"))
  }
}
