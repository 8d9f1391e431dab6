// Version 1 writes identifiers and numbers as text. Some senders write them as numbers, so both are read everywhere.

/// An object of version 1. A field that Apple documents as text or as an integer is read from either.
package protocol TextOrNumberObject: AppStoreObject {}

extension TextOrNumberObject {
  /// The text of a field: a string, a number as its digits, or a Boolean as `true` or `false`. Setting nil removes the
  /// field.
  package subscript(field: String) -> String? {
    get { json[field]?.digitsOrText }
    set { json[field] = newValue?.jsonValue }
  }

  /// The integer of a field: a number, or a string of digits. Setting nil removes the field.
  package subscript(field: String) -> Int64? {
    get { json[field].flatMap(FlexibleInteger.init(jsonValue:))?.value }
    set { json[field] = newValue?.jsonValue }
  }
}

extension JSON {
  /// The largest whole number up to which every whole number has a `Double` of its own.
  private static let largestExactDouble = 9_007_199_254_740_992.0

  fileprivate var digitsOrText: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .bool(let value): String(value)
    // A number that does not fit in 64 bits, or has a fraction or an exponent.
    case .number(let text):
      if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
        text
      } else if let number = Double(text), abs(number) < Self.largestExactDouble {
        Int64(exactly: number).map { String($0) }
      } else {
        nil
      }
    case .null, .array, .object: nil
    }
  }
}
