// The JSON parser: one pass over a buffer, recursion bounded by a depth limit, every read behind a check against the end.

/// Reads one JSON document from a buffer that must outlive the parser.
struct JSONParser {
  /// Where a member of the outermost object stands; see ``topLevelSpans``.
  struct MemberSpan {
    /// Of the opening quotation mark of the name.
    var keyStart: Int
    /// One after the last byte of the value.
    var valueEnd: Int
    /// Of the comma that follows; nil for the last member.
    var comma: Int?
  }

  /// No caller gets more recursion than this, whatever it asks for: a frame takes some 300 bytes of stack.
  static let depthCeiling = 512

  let bytes: UnsafeRawBufferPointer
  var offset = 0
  private let maximumDepth: Int
  private let recordsSpans: Bool

  /// One entry for each member of the outermost object, in order; empty unless asked for.
  private(set) var topLevelSpans: [MemberSpan] = []

  init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int, recordsSpans: Bool = false) {
    self.bytes = bytes
    self.maximumDepth = min(max(maximumDepth, 0), Self.depthCeiling)
    self.recordsSpans = recordsSpans
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
    // Only outside: reserved for each small object of a hostile body it would multiply the body's size by fifty.
    if depth == 1 { members.reserveCapacity(8) }
    while true {
      guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: offset) }
      let keyStart = offset
      let key = try string()
      skipWhitespace()
      guard try peek() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: offset) }
      offset += 1
      skipWhitespace()
      members.append(JSONObject.Member(key: key, value: try value(depth: depth)))
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
      elements.append(try value(depth: depth))
      skipWhitespace()
      if try !separator(before: UInt8(ascii: "]")) { return elements }
    }
  }

  /// Steps over a comma and says true, or over `end` and says false.
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
