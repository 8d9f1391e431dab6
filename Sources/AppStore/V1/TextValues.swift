// Converts version 1 text to numbers, dates and flags. Other text reads as nil; empty text is common.

/// Returns the time for a text of milliseconds since 1970.
func moment(_ milliseconds: String?) -> Timestamp? {
  milliseconds.flatMap { Int64($0) }.map(Timestamp.init(millisecondsSince1970:))
}

/// Returns the flag for `"true"`, `"1"`, `"false"` or `"0"`. Apple uses both forms, sometimes for the same field.
func flag(_ text: String?) -> Bool? {
  switch text {
  case "true", "1": true
  case "false", "0": false
  default: nil
  }
}

extension OpenEnum where RawValue == Int {
  /// The value for a text of digits.
  init?(text: String?) {
    guard let rawValue = text.flatMap({ Int($0) }) else { return nil }
    self.init(rawValue: rawValue)
  }
}
