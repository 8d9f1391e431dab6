// Base64 on bytes (RFC 4648), as strict as a signature wants it: one text for one value, nothing skipped.

/// Base64 and base64url. Decoding takes the alphabet of its variant alone: no white space, no line breaks, and the bits
/// beyond the last byte must be zero, so that no two texts decode to the same bytes.
public enum Base64 {
  /// The number of bytes that so many characters without padding decode to.
  public static func decodedCount(ofUnpadded count: Int) -> Int {
    count / 4 * 3 + max(0, count % 4 - 1)
  }

  /// Decodes base64url (RFC 4648, section 5) without padding, as in a JWS (RFC 7515, section 2): padding is refused.
  ///
  /// - Parameters:
  ///   - input: the characters.
  ///   - output: room for at least ``decodedCount(ofUnpadded:)`` bytes.
  /// - Returns: the number of bytes written; nil when the input is not base64url or the room too small. What `output`
  ///   then holds is not defined.
  public static func decodeURL(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
    decode(input, into: output, .url)
  }

  /// Decodes base64url without padding; nil when the input is anything else.
  public static func decodeURL(_ input: UnsafeRawBufferPointer) -> [UInt8]? {
    decoded(input, .url)
  }

  /// Decodes base64url without padding; nil when the input is anything else.
  public static func decodeURL(_ input: some Collection<UInt8>) -> [UInt8]? {
    withBytes(of: input) { decoded($0, .url) }
  }

  /// Decodes standard Base64 (RFC 4648, section 4) with its padding, as in `x5c` (RFC 7515, section 4.1.6).
  ///
  /// - Returns: the bytes; nil when the input is anything else, missing padding included.
  public static func decodeStandard(_ input: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let unpadded = withoutPadding(input) else { return nil }
    return decoded(unpadded, .standard)
  }

  /// Decodes standard Base64 with its padding; nil when the input is anything else.
  public static func decodeStandard(_ input: some Collection<UInt8>) -> [UInt8]? {
    withBytes(of: input) { decodeStandard($0) }
  }

  /// The input without the one or two padding characters it must end with; nil when their number is wrong.
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

  /// Lends the bytes of a collection, copied only when they do not lie in one piece.
  private static func withBytes<Result>(
    of input: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if let result = input.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return Array(input).withUnsafeBytes(body)
  }

  /// What the two variants differ in.
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
