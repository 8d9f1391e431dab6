// The JSON parser: one pass over a buffer, with bounded recursion and a bounds check before every read.

/// Parses one JSON document from a buffer that must outlive the parser.
struct JSONParser {
  /// The position of a member of the outermost object; see ``topLevelSpans``.
  struct MemberSpan {
    /// The offset of the name's opening quotation mark.
    var keyStart: Int
    /// The offset after the last byte of the value.
    var valueEnd: Int
    /// The offset of the comma that follows; nil for the last member.
    var comma: Int?
  }

  /// The upper bound for the depth, whatever the caller requests: a frame takes about 300 bytes of stack.
  static let depthCeiling = 512

  let bytes: UnsafeRawBufferPointer
  var offset = 0
  private let maximumDepth: Int
  private let recordsSpans: Bool
  /// The name of the members of the outermost object to keep; nil to keep all.
  private let onlyMember: String?

  /// One entry for each member of the outermost object, in order; empty unless requested.
  private(set) var topLevelSpans: [MemberSpan] = []

  /// - Parameter onlyMember: Keeps only the members of the outermost object with this name, and replaces their arrays
  ///   and objects by empty ones. The whole document is still validated in the same way, but no tree is built.
  init(
    _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, recordsSpans: Bool = false, onlyMember: String? = nil
  ) {
    self.bytes = bytes
    self.maximumDepth = min(max(maximumDepth, 0), Self.depthCeiling)
    self.recordsSpans = recordsSpans
    self.onlyMember = onlyMember
  }

  mutating func document() throws(JSONError) -> JSON {
    skipWhitespace()
    let result = try value(depth: 0)
    skipWhitespace()
    guard offset == bytes.count else { throw JSONError(.trailingBytes, at: offset) }
    return result
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    switch try peek() {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: throw JSONError(.unexpectedByte, at: offset)
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
    guard depth <= maximumDepth else { throw JSONError(.tooDeep, at: offset) }
    offset += 1
    skipWhitespace()
    var members: [JSONObject.Member] = []
    if try peek() == UInt8(ascii: "}") {
      offset += 1
      return JSONObject()
    }
    // Only for the outermost object: reserving for each small object of a hostile body would multiply its size by
    // fifty.
    if depth == 1, onlyMember == nil { members.reserveCapacity(8) }
    while true {
      guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: offset) }
      let keyStart = offset
      let key = try string()
      skipWhitespace()
      guard try peek() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: offset) }
      offset += 1
      skipWhitespace()
      let value = try value(depth: depth)
      if keeps(key, depth: depth) { members.append(JSONObject.Member(key: key, value: value)) }
      let valueEnd = offset
      skipWhitespace()
      let comma = offset
      let more = try separator(before: UInt8(ascii: "}"))
      if recordsSpans, depth == 1 {
        topLevelSpans.append(MemberSpan(keyStart: keyStart, valueEnd: valueEnd, comma: more ? comma : nil))
      }
      if !more { return JSONObject(members) }
    }
  }

  @inline(__always)
  private func keeps(_ key: String, depth: Int) -> Bool {
    guard let onlyMember else { return true }
    return depth == 1 && JSONObject.same(key, onlyMember)
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSON] {
    guard depth <= maximumDepth else { throw JSONError(.tooDeep, at: offset) }
    offset += 1
    skipWhitespace()
    var elements: [JSON] = []
    if try peek() == UInt8(ascii: "]") {
      offset += 1
      return elements
    }
    while true {
      let element = try value(depth: depth)
      if onlyMember == nil { elements.append(element) }
      skipWhitespace()
      if try !separator(before: UInt8(ascii: "]")) { return elements }
    }
  }

  /// Skips a comma and returns true, or skips `end` and returns false.
  private mutating func separator(before end: UInt8) throws(JSONError) -> Bool {
    let byte = try peek()
    guard byte == UInt8(ascii: ",") || byte == end else { throw JSONError(.unexpectedByte, at: offset) }
    offset += 1
    guard byte != end else { return false }
    skipWhitespace()
    return true
  }

  private mutating func literal(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
    let length = text.utf8CodeUnitCount
    for index in 0..<length {
      guard offset + index < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
      guard bytes[offset + index] == text.utf8Start[index] else {
        throw JSONError(.unexpectedByte, at: offset + index)
      }
    }
    offset += length
    return value
  }

  @inline(__always)
  func peek() throws(JSONError) -> UInt8 {
    guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
    return bytes[offset]
  }

  @inline(__always)
  private mutating func skipWhitespace() {
    while offset < bytes.count {
      let byte = bytes[offset]
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      offset += 1
    }
  }
}
