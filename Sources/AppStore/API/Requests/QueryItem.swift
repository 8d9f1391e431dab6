// URL queries and percent-encoding (RFC 3986), implemented here because the libraries do not use Foundation for it.

/// A name and value in a URL's query.
public struct QueryItem: Sendable, Hashable {
  /// The name, not percent-encoded.
  public let name: String
  /// The value, not percent-encoded.
  public let value: String

  /// Creates a query item from a name and value that are not percent-encoded.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// `name=value`, both percent-encoded.
  public var encoded: String { "\(name.percentEncoded)=\(value.percentEncoded)" }
}

extension [QueryItem] {
  /// The percent-encoded query in this order, without the question mark; empty if there are no items.
  public var encodedQuery: String { map(\.encoded).joined(separator: "&") }
}

extension String {
  /// The text, percent-encoded for a path segment or for a name or value in a query. Every UTF-8 byte that is not
  /// unreserved (RFC 3986, section 2.3) is written as `%XX`. A `+` or `/` in an identifier is therefore preserved.
  public var percentEncoded: String {
    guard !utf8.allSatisfy(Self.isUnreserved) else { return self }
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in utf8 {
      if Self.isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
