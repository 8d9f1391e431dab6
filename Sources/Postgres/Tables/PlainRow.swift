// Reads the JSON that Millrace itself writes without building a tree: one object in ASCII, without white space and
// escapes. Everything else is left to the parser, so this file decides nothing about what is valid.

internal import AppStore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The members of an object as ranges of its bytes, one for each column.
struct PlainRow {
  /// The kinds of values that can be copied as they are.
  enum Kind {
    case absent
    /// The bytes between the quotation marks.
    case text
    /// At most 18 digits.
    case integer
    case yes
    case no
    /// An object or array, which the parser has to read.
    case nested
  }

  /// A value.
  struct Value {
    var kind = Kind.absent
    var start = 0
    var end = 0
  }

  private(set) var values: [Value]

  /// Reads an object; nil if it has another form.
  /// - Parameter fields: The names of the columns. Members usually have the same order.
  init?(_ bytes: UnsafeRawBufferPointer, _ fields: [[UInt8]]) {
    values = Array(repeating: Value(), count: fields.count)
    guard bytes.count >= 2, bytes[0] == UInt8(ascii: "{") else { return nil }
    var (index, guess) = (1, 0)
    if bytes[1] == UInt8(ascii: "}") {
      if bytes.count == 2 { return }
      return nil
    }
    while true {
      guard let key = Self.text(bytes, from: index), key.upperBound + 2 < bytes.count,
        bytes[key.upperBound + 1] == UInt8(ascii: ":"), let value = Self.value(bytes, from: key.upperBound + 2)
      else { return nil }
      if let slot = Self.slot(bytes, key, fields, guess) {
        values[slot] = value.value
        guess = slot + 1
      } else if value.value.kind == .nested {
        // The parser would never look into it.
        return nil
      }
      guard value.next < bytes.count else { return nil }
      index = value.next + 1
      switch bytes[value.next] {
      case UInt8(ascii: ","): continue
      case UInt8(ascii: "}"):
        if index == bytes.count { return }
        return nil
      default: return nil
      }
    }
  }

  private static func slot(
    _ bytes: UnsafeRawBufferPointer, _ key: Range<Int>, _ fields: [[UInt8]], _ guess: Int
  ) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    for step in fields.indices {
      let index = (guess + step) % fields.count
      if fields[index].count == key.count, memcmp(fields[index], start + key.lowerBound, key.count) == 0 {
        return index
      }
    }
    return nil
  }

  /// The bytes of the string whose quotation mark is at `start`, without escapes and in ASCII.
  private static func text(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
    guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
    var index = start + 1
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") { return start + 1..<index }
      guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
      index += 1
    }
    return nil
  }

  private static func value(_ bytes: UnsafeRawBufferPointer, from start: Int) -> (value: Value, next: Int)? {
    func word(_ text: StaticString, _ kind: Kind) -> (value: Value, next: Int)? {
      let count = text.utf8CodeUnitCount
      guard start + count <= bytes.count, let base = bytes.baseAddress,
        memcmp(text.utf8Start, base + start, count) == 0
      else { return nil }
      return (Value(kind: kind, start: start, end: start + count), start + count)
    }
    switch bytes[start] {
    case UInt8(ascii: "\""):
      guard let text = text(bytes, from: start) else { return nil }
      return (Value(kind: .text, start: text.lowerBound, end: text.upperBound), text.upperBound + 1)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      let digits = bytes[start] == UInt8(ascii: "-") ? start + 1 : start
      var index = digits
      while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
      let count = index - digits
      // A fraction, an exponent, or a zero at the beginning.
      guard (1...18).contains(count), count == 1 && digits == start || bytes[digits] != UInt8(ascii: "0"),
        index < bytes.count, bytes[index] == UInt8(ascii: ",") || bytes[index] == UInt8(ascii: "}")
      else { return nil }
      return (Value(kind: .integer, start: start, end: index), index)
    case UInt8(ascii: "t"): return word("true", .yes)
    case UInt8(ascii: "f"): return word("false", .no)
    case UInt8(ascii: "n"): return word("null", .absent)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard let end = endOfNested(bytes, from: start) else { return nil }
      return (Value(kind: .nested, start: start, end: end), end)
    default: return nil
    }
  }

  /// The end of an object or array. The parser checks what is between.
  private static func endOfNested(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var (index, depth) = (start, 0)
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index + 1 }
      case UInt8(ascii: "\""):
        guard let text = text(bytes, from: index) else { return nil }
        index = text.upperBound
      default: break
      }
      index += 1
    }
    return nil
  }
}

extension Timestamp {
  /// Whether a text has the form of ``rfc3339``, and PostgreSQL accepts it. The 29th and later days are left to the
  /// parser.
  static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count == 24 else { return false }
    func number(_ first: Int, _ count: Int) -> Int {
      var value = 0
      for index in first..<first + count {
        let digit = bytes[index] &- UInt8(ascii: "0")
        guard digit < 10 else { return -1 }
        value = value * 10 + Int(digit)
      }
      return value
    }
    return bytes[4] == UInt8(ascii: "-") && bytes[7] == UInt8(ascii: "-") && bytes[10] == UInt8(ascii: "T")
      && bytes[13] == UInt8(ascii: ":") && bytes[16] == UInt8(ascii: ":") && bytes[19] == UInt8(ascii: ".")
      && bytes[23] == UInt8(ascii: "Z") && number(0, 4) >= 1970 && (1...12).contains(number(5, 2))
      && (1...28).contains(number(8, 2)) && (0...23).contains(number(11, 2)) && (0...59).contains(number(14, 2))
      && (0...59).contains(number(17, 2)) && number(20, 3) >= 0
  }
}
