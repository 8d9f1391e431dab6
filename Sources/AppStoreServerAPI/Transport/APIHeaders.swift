// Header fields as received, so that the public API does not depend on an HTTP package.

/// The header fields of a response, in order.
public struct APIHeaders: Sendable, Hashable {
  /// A header field.
  public struct Field: Sendable, Hashable {
    /// The name as received.
    public var name: String
    /// The value as received.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields.
  public var fields: [Field]

  /// Creates header fields in this order.
  public init(_ fields: [Field] = []) { self.fields = fields }

  /// The first value for a name, compared without regard to case; nil if there is none.
  public subscript(name: String) -> String? {
    fields.first { Self.same($0.name.utf8, name.utf8) }?.value
  }

  private static func same(_ one: String.UTF8View, _ other: String.UTF8View) -> Bool {
    one.count == other.count && zip(one, other).allSatisfy { lowercase($0) == lowercase($1) }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

extension APIHeaders: ExpressibleByDictionaryLiteral {
  /// Creates fields in the order written.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field(name: $0.0, value: $0.1) })
  }
}
