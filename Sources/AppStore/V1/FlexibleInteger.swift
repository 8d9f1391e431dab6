// An integer that version 1 notifications write now as a number, now as text.

/// An integer that came as a JSON integer or as a string of digits, and goes out as it came.
public struct FlexibleInteger: JSONRepresentable, Hashable {
  /// The number.
  public let value: Int64
  /// As it came.
  public let jsonValue: JSON

  /// An integer, written as a number.
  public init(_ value: Int64) {
    self.value = value
    jsonValue = .integer(value)
  }

  /// An integer.
  public static var jsonKind: JSONKind { .integer }

  /// The number of an integer or of a string of digits; nil for anything else.
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
