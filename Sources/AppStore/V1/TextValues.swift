// Version 1 writes numbers, dates and flags as text. Text that is none of these reads as nil; empty text is common.

/// The moment of a text of milliseconds since 1970.
func moment(_ milliseconds: String?) -> Timestamp? {
  milliseconds.flatMap { Int64($0) }.map(Timestamp.init(millisecondsSince1970:))
}

/// The flag of `"true"`, `"1"`, `"false"` or `"0"`: Apple uses both ways, sometimes for one field.
func flag(_ text: String?) -> Bool? {
  switch text {
  case "true", "1": true
  case "false", "0": false
  default: nil
  }
}

extension OpenEnum where RawValue == Int {
  /// The value of a text of digits.
  init?(text: String?) {
    guard let rawValue = text.flatMap({ Int($0) }) else { return nil }
    self.init(rawValue: rawValue)
  }
}
