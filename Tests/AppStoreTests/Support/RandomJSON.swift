// Random JSON values with difficult parts: escapes, any Unicode, duplicates, extreme numbers, nesting.

import AppStore
import AppStoreSigning

extension SeededGenerator {
  mutating func json(depth: Int = 4) -> JSON {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &self))
    case 2: return .integer(Int64.random(in: .min ... .max, using: &self))
    case 3: return .integer(Int64.random(in: -9...9, using: &self))
    case 4: return .number(number())
    case 5: return .string(text())
    case 6: return .array((0..<Int.random(in: 0...5, using: &self)).map { _ in json(depth: depth - 1) })
    default: return .object(object(depth: depth - 1))
    }
  }

  mutating func object(depth: Int = 3) -> JSONObject {
    var members = (0..<Int.random(in: 0...6, using: &self)).map { _ in
      JSONObject.Member(key: text(), value: json(depth: depth))
    }
    if let first = members.first, Bool.random(using: &self) {
      members.append(JSONObject.Member(key: first.key, value: json(depth: depth)))
    }
    return JSONObject(members)
  }

  mutating func text() -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...40, using: &self) {
      switch Int.random(in: 0..<6, using: &self) {
      case 0:
        text.unicodeScalars.append(
          ["\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}"].randomElement(using: &self) ?? "x")
      case 1: text.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: 0x80...0xD7FF, using: &self)) ?? "x")
      case 2: text.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: 0xE000...0x10FFFF, using: &self)) ?? "x")
      default: text.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &self)))
      }
    }
    return text
  }

  private mutating func number() -> String {
    [
      "-0", "0.0", "1.50", "1e3", "1E+3", "-1.25e-7", "9223372036854775808", "-9223372036854775809", "1e999",
      "100000000000000000000000000000",
    ].randomElement(using: &self) ?? "0.5"
  }

  /// White space as JSON allows it, often empty.
  mutating func whitespace() -> [UInt8] {
    guard Int.random(in: 0..<3, using: &self) == 0 else { return [] }
    return (0..<Int.random(in: 1...4, using: &self)).map { _ in
      [0x20, 0x0A, 0x0D, 0x09].randomElement(using: &self) ?? 0x20
    }
  }

  /// The value as text with random white space between its parts.
  mutating func spaced(_ value: JSON) -> [UInt8] {
    var text: [UInt8] = []
    write(value, to: &text)
    return text
  }

  private mutating func write(_ value: JSON, to text: inout [UInt8]) {
    text += whitespace()
    switch value {
    case .array(let elements):
      text.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        write(element, to: &text)
      }
      if elements.isEmpty { text += whitespace() }
      text.append(UInt8(ascii: "]"))
    case .object(let object):
      text.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        text += whitespace() + JSON.string(member.key).serialized() + whitespace()
        text.append(UInt8(ascii: ":"))
        write(member.value, to: &text)
      }
      if object.members.isEmpty { text += whitespace() }
      text.append(UInt8(ascii: "}"))
    default: text += value.serialized()
    }
    text += whitespace()
  }
}
