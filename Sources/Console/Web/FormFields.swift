// Decodes `application/x-www-form-urlencoded` queries and forms, and tolerates malformed input.

/// Names and values, in order.
struct FormFields: Sendable, Hashable {
  private var fields: [(name: String, value: String)] = []

  static func == (left: Self, right: Self) -> Bool {
    left.fields.elementsEqual(right.fields) { $0 == $1 }
  }

  func hash(into hasher: inout Hasher) { for field in fields { hasher.combine(field.name) } }

  /// Decodes a query or a form's body. Invalid UTF-8 becomes the replacement character.
  init(_ text: some StringProtocol) {
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      fields.append((Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : ""))
    }
  }

  /// The first value of a name, trimmed of white space; empty if there is none.
  subscript(name: String) -> String {
    fields.first { $0.name == name }.map { Self.trimmed($0.value) } ?? ""
  }

  /// Returns all values of a name.
  func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  private static func trimmed(_ text: String) -> String {
    var rest = text[...]
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }

  private static func decoded(_ text: some StringProtocol) -> String {
    let encoded = Array(text.utf8)
    guard encoded.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return String(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var index = 0
    while index < encoded.count {
      let byte = encoded[index]
      index += 1
      if byte == UInt8(ascii: "+") {
        bytes.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), index + 2 <= encoded.count,
        let value = UInt8(String(decoding: encoded[index..<index + 2], as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        index += 2
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
