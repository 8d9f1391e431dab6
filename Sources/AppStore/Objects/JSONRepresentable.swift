// What a field of Apple's payloads can hold: a type that reads itself from a JSON value, or says that it cannot.

/// A type of a documented field.
public protocol JSONRepresentable: Sendable {
  /// The kind of JSON value that Apple documents for this type.
  static var jsonKind: JSONKind { get }

  /// The value, or nil when the JSON is of another kind.
  init?(jsonValue: JSON)

  /// The JSON that ``init(jsonValue:)`` reads back.
  var jsonValue: JSON { get }

  /// What in `value`, which stands at `path`, is not of the documented kind, nested objects included.
  static func oddFields(in value: JSON, at path: String) -> [OddField]
}

extension JSONRepresentable {
  /// One entry when the value does not read as this type.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    Self(jsonValue: value) == nil ? [OddField(path: path, expected: jsonKind, found: value.kind)] : []
  }
}

extension String: JSONRepresentable {
  /// A string.
  public static var jsonKind: JSONKind { .string }
  /// The text of a string; nil for anything else.
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
  /// The value of a boolean; nil for anything else, the strings `"true"` and `"false"` included.
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
  /// The value of an integer; nil for anything else, numbers with a fraction included.
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
  /// The value of an integer that fits; nil for anything else.
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
  /// The moment of a number of milliseconds; a fraction, as Xcode writes it, is cut off.
  public init?(jsonValue: JSON) {
    switch jsonValue {
    case .integer(let milliseconds): self.init(millisecondsSince1970: milliseconds)
    case .number(let text):
      guard let milliseconds = Double(text) else { return nil }
      self.init(fractionalMilliseconds: milliseconds)
    default: return nil
    }
  }
  /// This moment as a JSON integer.
  public var jsonValue: JSON { .integer(millisecondsSince1970) }
}

extension Array: JSONRepresentable where Element: JSONRepresentable {
  /// An array.
  public static var jsonKind: JSONKind { .array }
  /// The elements that are of the documented kind. One odd element does not lose the others: it is left out here, still
  /// stands in the object's `json`, and is named by `oddFields`.
  public init?(jsonValue: JSON) {
    guard case .array(let elements) = jsonValue else { return nil }
    self = elements.compactMap(Element.init(jsonValue:))
  }
  /// These elements as a JSON array.
  public var jsonValue: JSON { .array(map(\.jsonValue)) }
  /// What is odd in the elements, each at `path[index]`.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    guard case .array(let elements) = value else {
      return [OddField(path: path, expected: jsonKind, found: value.kind)]
    }
    return elements.enumerated().flatMap { Element.oddFields(in: $1, at: "\(path)[\($0)]") }
  }
}
