import AppStore
import AppStoreSigning
import Testing

struct JSONSerializationTests {
  @Test(arguments: 0..<40 as Range<UInt64>)
  func whatIsWrittenReadsBackTheSameHoweverItIsSpaced(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let value = random.json()
      #expect(try JSON(parsing: value.serialized()) == value)
      #expect(try JSON(parsing: random.spaced(value)) == value)
    }
  }

  @Test(arguments: [
    #"{"b":1,"a":[],"b":2}"#, #"{"x":1.0,"y":-0,"z":1e400,"n":123456789012345678901234567890}"#, #"["/","é","🎠",""]"#,
    #"{"":{}}"#, #""\"\\\b\f\n\r\t\u0000\u001f""#,
  ])
  func compactJSONComesBackByteForByte(text: String) throws {
    #expect(try String(decoding: JSON(parsing: Array(text.utf8)).serialized(), as: UTF8.self) == text)
  }

  @Test func literalsBuildWhatTheySay() {
    let value: JSON = ["a": [1, true, .null, "x"], "b": ["c": -1]]
    #expect(String(decoding: value.serialized(), as: UTF8.self) == #"{"a":[1,true,null,"x"],"b":{"c":-1}}"#)
    #expect(value.kind == .object && JSON.number("0.5").kind == .number && JSON.integer(1).kind == .integer)
  }
}
