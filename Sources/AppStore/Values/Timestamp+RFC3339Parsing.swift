// Parses RFC 3339 times in the configuration and in headers.

extension Timestamp {
  /// Parses an RFC 3339 text, truncated to milliseconds; nil for any other text.
  ///
  /// A leap second (`:60`) is read as the following second. The years are limited to 1970 to 9999.
  public init?(rfc3339 text: String) {
    let whole = Array(text.utf8)
    if let usual = Self.usual(whole) {
      self = usual
      return
    }
    var bytes = whole[...]
    guard let year = Self.number(4, &bytes), Self.mark("-", &bytes), let month = Self.number(2, &bytes),
      Self.mark("-", &bytes), let day = Self.number(2, &bytes), Self.mark("T", &bytes) || Self.mark("t", &bytes),
      let hour = Self.number(2, &bytes), Self.mark(":", &bytes), let minute = Self.number(2, &bytes),
      Self.mark(":", &bytes), let second = Self.number(2, &bytes),
      let milliseconds = Self.fraction(&bytes), let offset = Self.offset(&bytes), bytes.isEmpty,
      year >= 1970, (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    let seconds = Self.daysSinceEpoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset * 60
    self.init(millisecondsSince1970: seconds * 1_000 + milliseconds)
  }

  /// Parses the form of ``rfc3339`` without intermediate steps, because millions of records contain it.
  private static func usual(_ bytes: [UInt8]) -> Timestamp? {
    guard bytes.count == 24, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      bytes[19] == UInt8(ascii: "."), bytes[23] == UInt8(ascii: "Z"), let year = number(in: bytes, 0, 4),
      let month = number(in: bytes, 5, 2), let day = number(in: bytes, 8, 2), let hour = number(in: bytes, 11, 2),
      let minute = number(in: bytes, 14, 2), let second = number(in: bytes, 17, 2),
      let millisecond = number(in: bytes, 20, 3), year >= 1970, (1...12).contains(month), day >= 1,
      day <= days(in: month, of: year), hour < 24, minute < 60, second <= 60
    else { return nil }
    let seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    return Timestamp(millisecondsSince1970: seconds * 1_000 + millisecond)
  }

  private static func number(in bytes: [UInt8], _ first: Int, _ digits: Int) -> Int64? {
    var value: Int64 = 0
    for index in first..<first + digits {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      value = value * 10 + Int64(digit)
    }
    return value
  }

  private static func number(_ digits: Int, _ bytes: inout ArraySlice<UInt8>) -> Int64? {
    guard bytes.count >= digits else { return nil }
    var value: Int64 = 0
    for byte in bytes.prefix(digits) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      value = value * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    bytes.removeFirst(digits)
    return value
  }

  private static func mark(_ mark: Unicode.Scalar, _ bytes: inout ArraySlice<UInt8>) -> Bool {
    guard bytes.first == UInt8(ascii: mark) else { return false }
    bytes.removeFirst()
    return true
  }

  /// Parses milliseconds after an optional point; nil for a point without digits.
  private static func fraction(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
    guard mark(".", &bytes) else { return 0 }
    let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty else { return nil }
    bytes.removeFirst(digits.count)
    var milliseconds: Int64 = 0
    for place in 0..<3 {
      let index = digits.startIndex + place
      milliseconds = milliseconds * 10 + (index < digits.endIndex ? Int64(digits[index] - UInt8(ascii: "0")) : 0)
    }
    return milliseconds
  }

  /// Parses the offset in minutes east of UTC.
  private static func offset(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
    if mark("Z", &bytes) || mark("z", &bytes) { return 0 }
    let isWest = bytes.first == UInt8(ascii: "-")
    guard mark("+", &bytes) || mark("-", &bytes), let hours = number(2, &bytes), mark(":", &bytes),
      let minutes = number(2, &bytes), hours < 24, minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (isWest ? -1 : 1)
  }

  package static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of days since 1970-01-01 in the proleptic Gregorian calendar. Years begin in March.
  package static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
  }
}
