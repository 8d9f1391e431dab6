// A JSON value kept as it came. Apple adds fields, values and whole objects without notice; whatever we do not know must
// leave this module exactly as it entered.

/// A JSON value (RFC 8259) that keeps what decoding usually loses: the order of members, duplicate keys, and the exact
/// text of every number that is not an `Int64`.
///
/// Two values are equal when they serialise to the same bytes: `1` and `1.0` differ, and so do objects whose members
/// stand in another order.
public enum JSON: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number written without fraction or exponent that fits 64 bits. `-0` is a ``number(_:)``, to keep its sign.
  case integer(Int64)
  /// Any other number, as its text. The text must follow the grammar of RFC 8259, section 6.
  case number(String)
  /// A string, unescaped.
  case string(String)
  /// An array.
  case array([JSON])
  /// An object.
  case object(JSONObject)
}

/// What a JSON value is, without the value: for messages about fields that are not what Apple documents.
public enum JSONKind: String, Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean
  /// A number without fraction or exponent that fits 64 bits.
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
  /// What this value is, without the value.
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

// No nil literal: where a `JSON?` is meant, nil must stay "no such member" and not become `null`.
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
  /// An object with its members in the order written.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(JSONObject(elements.map { JSONObject.Member(key: $0.0, value: $0.1) }))
  }
}
