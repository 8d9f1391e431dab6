// A JSON value that preserves its source. Apple adds fields, values and whole objects without notice, and unknown data
// must leave this module unchanged.

/// A JSON value (RFC 8259) that preserves the order of members, duplicate keys, and the exact text of every number that
/// is not an `Int64`.
///
/// Two values are equal if they serialize to the same bytes: `1` and `1.0` differ, and so do objects with another order
/// of members.
public enum JSON: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without fraction or exponent that fits in 64 bits. `-0` is a ``number(_:)``, to preserve its sign.
  case integer(Int64)
  /// Any other number, as text. The text must follow the grammar of RFC 8259, section 6.
  case number(String)
  /// A string, unescaped.
  case string(String)
  /// An array.
  case array([JSON])
  /// An object.
  case object(JSONObject)
}

/// The kind of a JSON value, for messages about fields that are not as Apple documents them.
public enum JSONKind: String, Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean
  /// A number without fraction or exponent that fits in 64 bits.
  case integer
  /// Any other number.
  case number
  /// A string.
  case string
  /// An array.
  case array
  /// An object.
  case object
}

extension JSON {
  /// The kind of this value.
  public var kind: JSONKind {
    switch self {
    case .null: .null
    case .bool: .boolean
    case .integer: .integer
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }
}

// There is no nil literal, because nil as a `JSON?` must mean "no such member" and not `null`.
extension JSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// An object with its members in this order.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(JSONObject(elements.map { JSONObject.Member(key: $0.0, value: $0.1) }))
  }
}
