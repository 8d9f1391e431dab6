// Serializes JSON as Apple does: compact, in the original order, with only the necessary escapes.

extension JSON {
  /// Returns this value as compact UTF-8. Members keep their order and duplicates, numbers keep their text, and only
  /// quotation marks, backslashes and control characters are escaped.
  public func serialized() -> [UInt8] {
    var output: [UInt8] = []
    write(to: &output)
    return output
  }

  func write(to output: inout [UInt8]) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): output.append(contentsOf: String(value).utf8)
    case .number(let text): output.append(contentsOf: text.utf8)
    case .string(let text): text.writeJSON(to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.write(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let object): object.write(to: &output)
    }
  }
}

extension JSONObject {
  /// Returns this object as compact UTF-8; see ``JSON/serialized()``.
  public func serialized() -> [UInt8] {
    var output: [UInt8] = []
    write(to: &output)
    return output
  }

  func write(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      member.key.writeJSON(to: &output)
      output.append(UInt8(ascii: ":"))
      member.value.write(to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }
}

extension String {
  fileprivate func writeJSON(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var text = self
    text.withUTF8 { utf8 in
      let bytes = UnsafeRawBufferPointer(utf8)
      var start = 0
      while start < bytes.count {
        let stop = endOfPlainRun(bytes, from: start)
        output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<stop]))
        if stop < bytes.count { Self.writeEscaped(bytes[stop], to: &output) }
        start = stop + 1
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func writeEscaped(_ byte: UInt8, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x22, 0x5C: output.append(byte)
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x0C: output.append(UInt8(ascii: "f"))
    case 0x0A: output.append(UInt8(ascii: "n"))
    case 0x0D: output.append(UInt8(ascii: "r"))
    case 0x09: output.append(UInt8(ascii: "t"))
    default:
      let digits = String(byte, radix: 16)
      output.append(contentsOf: (digits.utf8.count == 1 ? "u000" : "u00").utf8)
      output.append(contentsOf: digits.utf8)
    }
  }
}
