import AppStore
import AppStoreSigning
import Testing

struct JSONParserTests {
  @Test(
    arguments: [
      ("null", JSON.null), ("true", true), (" false\n", false), ("0", 0), ("-1", -1), ("[]", []), ("[ ]", []),
      ("{}", [:]),
      ("{ }", [:]), ("\"\"", ""), ("[1,2 , 3]", [1, 2, 3]), ("{\"a\":{\"b\":[null]}}", ["a": ["b": [.null]]]),
      ("\t{\r\n\"a\" : 1 , \"b\" : \"x\" }", ["a": 1, "b": "x"]), ("\"\u{7F}é漢🎠\"", "\u{7F}é漢🎠"),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .number("9223372036854775808")),
      ("-9223372036854775809", .number("-9223372036854775809")),
      ("-0", .number("-0")), ("1.0", .number("1.0")), ("1e2", .number("1e2")), ("1E+2", .number("1E+2")),
      ("-0.5e-3", .number("-0.5e-3")), ("1e9999", .number("1e9999")),
      ("1697679936711.0747", .number("1697679936711.0747")),
    ] as [(String, JSON)])
  func aDocumentReadsAsTheValueItHolds(text: String, value: JSON) throws {
    #expect(try JSON(parsing: Array(text.utf8)) == value)
  }

  @Test(arguments: [
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u6F22""#, "Aé漢"), (#""\uD83C\uDFA0""#, "🎠"),
    (#""a\u0000b""#, "a\u{0}b"),
    (
      #""0123456789abcdef0123456789abcdef\n0123456789abcdef""#,
      "0123456789abcdef0123456789abcdef\n0123456789abcdef"
    ),
  ])
  func escapesReadAsWhatTheyStandFor(text: String, value: String) throws {
    #expect(try JSON(parsing: Array(text.utf8)) == .string(value))
  }

  @Test(arguments: [
    (#""\uD83C""#, "\u{FFFD}"), (#""\uDFA0""#, "\u{FFFD}"), (#""\uD83Cx""#, "\u{FFFD}x"),
    (#""\uD83C\n""#, "\u{FFFD}\n"),
    (#""\uD83C\u0041""#, "\u{FFFD}A"), (#""\uD83C\uD83C\uDFA0""#, "\u{FFFD}🎠"),
  ])
  func halfASurrogatePairReadsAsTheReplacementCharacter(text: String, value: String) throws {
    #expect(try JSON(parsing: Array(text.utf8)) == .string(value))
  }

  @Test(
    arguments: [
      ("", JSONError.Reason.unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("nul", .unexpectedEnd, 3),
      ("nulL", .unexpectedByte, 3), ("\"a", .unexpectedEnd, 2), ("\"a\\", .unexpectedEnd, 3),
      ("\"\\u12", .unexpectedEnd, 5),
      ("[1", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3), ("{\"a\"", .unexpectedEnd, 4),
      ("{\"a\":", .unexpectedEnd, 5),
      ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3),
      ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3),
      ("{,}", .unexpectedByte, 1),
      ("{\"a\":1,}", .unexpectedByte, 7), ("{a:1}", .unexpectedByte, 1), ("{\"a\" 1}", .unexpectedByte, 5),
      ("{\"a\":1 \"b\":2}", .unexpectedByte, 7), ("{1:2}", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2),
      ("'a'", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0),
      ("\u{FEFF}1", .unexpectedByte, 0), ("1 1", .trailingBytes, 2), ("{}x", .trailingBytes, 2),
      ("null\u{0}", .trailingBytes, 4),
      ("01", .invalidNumber, 0), ("-01", .invalidNumber, 1), ("-a", .invalidNumber, 1), ("1.a", .invalidNumber, 2),
      ("1ea", .invalidNumber, 2), ("\"\\x\"", .invalidEscape, 1), ("\"ab\\u12g4\"", .invalidEscape, 3),
      ("\"\\uD83C\\uZZZZ\"", .invalidEscape, 7), ("\"a\nb\"", .controlCharacter, 2),
      ("\"\u{0}\"", .controlCharacter, 1),
    ] as [(String, JSONError.Reason, Int)])
  func whatIsNotJSONIsRefusedWithItsPlace(text: String, reason: JSONError.Reason, offset: Int) {
    #expect(throws: JSONError(reason, at: offset)) { try JSON(parsing: Array(text.utf8)) }
  }

  @Test(
    arguments: [
      ([0x22, 0x61, 0xFF, 0x22], 2), ([0x22, 0xC3, 0x22], 1), ([0x22, 0xC0, 0x80, 0x22], 1),
      ([0x22, 0x61, 0xED, 0xA0, 0x80, 0x22], 2), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
      ([0x22, 0x5C, 0x6E, 0xC3, 0xA9, 0x80, 0x22], 5),
    ] as [([UInt8], Int)])
  func aStringThatIsNotUTF8IsRefusedWithItsPlace(bytes: [UInt8], offset: Int) {
    #expect(throws: JSONError(.invalidUTF8, at: offset)) { try JSON(parsing: bytes) }
  }

  @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
  func nestingIsAllowedUpToTheLimitAndNotBeyond(open: String, close: String) throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
    }
    _ = try JSON(parsing: nested(64))
    #expect(throws: JSONError(.tooDeep, at: 64 * open.utf8.count)) { try JSON(parsing: nested(65)) }
    #expect(throws: JSONError(.tooDeep, at: 0)) { try JSON(parsing: nested(1), maximumDepth: 0) }
    // With any limit, deep nesting ends at the parser's maximum and not in a stack overflow.
    _ = try JSON(parsing: nested(512), maximumDepth: .max)
    #expect(throws: JSONError(.tooDeep, at: 512 * open.utf8.count)) {
      try JSON(parsing: Array(String(repeating: open, count: 1_000_000).utf8), maximumDepth: .max)
    }
  }

  @Test func aNumberOfAMillionDigitsIsKeptAsItsText() throws {
    let digits = String(repeating: "7", count: 1_000_000)
    #expect(try JSON(parsing: Array(digits.utf8)) == .number(digits))
  }

  @Test func everyBeginningOfADocumentIsRefused() throws {
    let document = Array(#"{"a":[1.5e3,-2,true,null],"b\u00e9":"x\"y","c":{"d":"é"}}"#.utf8)
    for count in 0..<document.count {
      #expect(throws: JSONError.self, "the first \(count) bytes") { try JSON(parsing: Array(document[..<count])) }
    }
  }

  @Test func aSliceAndAnArrayReadAlikeWithOffsetsFromTheStartOfTheSlice() throws {
    let bytes = Array("xx[1,2]yy".utf8)
    #expect(try JSON(parsing: bytes[2..<7]) == [1, 2])
    #expect(throws: JSONError(.unexpectedEnd, at: 4)) { try JSON(parsing: bytes[2..<6]) }
  }

  @Test func anObjectIsDemandedWhereAnObjectMustStand() throws {
    #expect(try JSONObject(parsing: Array("{\"a\":1}".utf8)) == ["a": 1])
    #expect(throws: JSONError(.notAnObject, at: 0)) { try JSONObject(parsing: Array("[]".utf8)) }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func mutatedDocumentsAreReadOrRefusedAndNeverTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      var bytes = random.spaced(random.json())
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let value = try? JSON(parsing: bytes) else { continue }
      #expect((try? JSON(parsing: value.serialized())) == value)
    }
  }
}
