// Names and values of a URL's query, and text inside a URL (RFC 3986). Foundation's way of it is not used in libraries.

/// One name and value of a URL's query.
public struct QueryItem: Sendable, Hashable {
  /// The name, not encoded.
  public let name: String
  /// The value, not encoded.
  public let value: String

  /// A name and its value, not encoded.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// `name=value`, each encoded.
  public var encoded: String { "\(name.percentEncoded)=\(value.percentEncoded)" }
}

extension [QueryItem] {
  /// The query without its question mark, in this order; empty when there is none.
  public var encodedQuery: String { map(\.encoded).joined(separator: "&") }
}

extension String {
  /// The text as it may stand in a segment of a path, or a name or value of a query: every byte of its UTF-8 that is not
  /// unreserved (RFC 3986, section 2.3) as `%XX`. A `+` or a `/` inside an identifier survives so.
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
