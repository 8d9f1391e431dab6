// Header fields as they came, without a dependency of our interface on an HTTP package.

/// The header fields of an answer, in the order they came.
public struct APIHeaders: Sendable, Hashable {
  /// One field.
  public struct Field: Sendable, Hashable {
    /// The name as it came.
    public var name: String
    /// The value as it came.
    public var value: String

    /// A field of that name and value.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Every field.
  public var fields: [Field]

  /// These fields, in this order.
  public init(_ fields: [Field] = []) { self.fields = fields }

  /// The first value of a name, whatever its case; nil when there is none.
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
  /// Fields in the order written.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field(name: $0.0, value: $0.1) })
  }
}
