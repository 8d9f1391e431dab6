// An integer that version 1 notifications write as a number or as text.

/// An integer from a JSON integer or a string of digits. It is written in the form in which it was received.
public struct FlexibleInteger: JSONRepresentable, Hashable {
  /// The number.
  public let value: Int64
  /// The JSON as received.
  public let jsonValue: JSON

  /// Creates an integer that is written as a number.
  public init(_ value: Int64) {
    self.value = value
    jsonValue = .integer(value)
  }

  /// An integer.
  public static var jsonKind: JSONKind { .integer }

  /// Converts an integer or a string of digits; nil for any other value.
  public init?(jsonValue: JSON) {
    switch jsonValue {
    case .integer(let number): value = number
    case .string(let text):
      guard let number = Int64(text) else { return nil }
      value = number
    default: return nil
    }
    self.jsonValue = jsonValue
  }
}
