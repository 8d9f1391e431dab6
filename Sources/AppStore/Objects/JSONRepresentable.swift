// The protocol for field types, which convert from and to JSON values.

/// A type for documented fields.
public protocol JSONRepresentable: Sendable {
  /// The kind of JSON value that Apple documents for this type.
  static var jsonKind: JSONKind { get }

  /// Converts a JSON value; nil if it has another kind.
  init?(jsonValue: JSON)

  /// The JSON from which ``init(jsonValue:)`` creates the same value.
  var jsonValue: JSON { get }

  /// Returns the parts of `value` without the documented kind, including those in nested objects. `path` is its
  /// position.
  static func oddFields(in value: JSON, at path: String) -> [OddField]
}

extension JSONRepresentable {
  /// Returns one entry if the value cannot be converted to this type.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    Self(jsonValue: value) == nil ? [OddField(path: path, expected: jsonKind, found: value.kind)] : []
  }
}

extension String: JSONRepresentable {
  /// A string.
  public static var jsonKind: JSONKind { .string }
  /// The text of a string; nil for any other value.
  public init?(jsonValue: JSON) {
    guard case .string(let text) = jsonValue else { return nil }
    self = text
  }
  /// This text as a JSON string.
  public var jsonValue: JSON { .string(self) }
}

extension Bool: JSONRepresentable {
  /// A boolean.
  public static var jsonKind: JSONKind { .boolean }
  /// The value of a Boolean; nil for any other value, including the strings `"true"` and `"false"`.
  public init?(jsonValue: JSON) {
    guard case .bool(let value) = jsonValue else { return nil }
    self = value
  }
  /// This value as a JSON boolean.
  public var jsonValue: JSON { .bool(self) }
}

extension Int64: JSONRepresentable {
  /// An integer.
  public static var jsonKind: JSONKind { .integer }
  /// The value of an integer; nil for any other value, including numbers with a fraction.
  public init?(jsonValue: JSON) {
    guard case .integer(let value) = jsonValue else { return nil }
    self = value
  }
  /// This value as a JSON integer.
  public var jsonValue: JSON { .integer(self) }
}

extension Int: JSONRepresentable {
  /// An integer.
  public static var jsonKind: JSONKind { .integer }
  /// The value of an integer in range; nil for any other value.
  public init?(jsonValue: JSON) {
    guard case .integer(let value) = jsonValue else { return nil }
    self.init(exactly: value)
  }
  /// This value as a JSON integer.
  public var jsonValue: JSON { .integer(Int64(self)) }
}

extension Timestamp: JSONRepresentable {
  /// An integer.
  public static var jsonKind: JSONKind { .integer }
  /// The time for a number of milliseconds. A fraction, as Xcode writes it, is truncated.
  public init?(jsonValue: JSON) {
    switch jsonValue {
    case .integer(let milliseconds): self.init(millisecondsSince1970: milliseconds)
    case .number(let text):
      guard let milliseconds = Double(text) else { return nil }
      self.init(fractionalMilliseconds: milliseconds)
    default: return nil
    }
  }
  /// This time as a JSON integer.
  public var jsonValue: JSON { .integer(millisecondsSince1970) }
}

extension Array: JSONRepresentable where Element: JSONRepresentable {
  /// An array.
  public static var jsonKind: JSONKind { .array }
  /// The elements that have the documented kind. An element of another kind is skipped here, remains in the object's
  /// `json`, and is listed in `oddFields`.
  public init?(jsonValue: JSON) {
    guard case .array(let elements) = jsonValue else { return nil }
    self = elements.compactMap(Element.init(jsonValue:))
  }
  /// These elements as a JSON array.
  public var jsonValue: JSON { .array(map(\.jsonValue)) }
  /// Returns the elements without the documented kind, each at `path[index]`.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    guard case .array(let elements) = value else {
      return [OddField(path: path, expected: jsonKind, found: value.kind)]
    }
    return elements.enumerated().flatMap { Element.oddFields(in: $1, at: "\(path)[\($0)]") }
  }
}
