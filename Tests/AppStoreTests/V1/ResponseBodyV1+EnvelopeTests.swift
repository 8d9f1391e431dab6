import AppStore
import AppStoreSigning
import Testing

struct ResponseBodyV1EnvelopeTests {
  @Test(
    arguments: [
      (#"{"a":1}"#, #"{"a":1}"#, []), (#"{}"#, #"{}"#, []), (#"{"password":"s","a":1}"#, #"{"a":1}"#, ["s"]),
      (#"{"a":1,"password":"s","b":2}"#, #"{"a":1,"b":2}"#, ["s"]), (#"{"a":1,"password":"s"}"#, #"{"a":1}"#, ["s"]),
      (#"{"password":"s"}"#, #"{}"#, ["s"]), (#" { "password" : "s" } "#, " {  } ", ["s"]),
      ("{\n  \"a\": 1,\n  \"password\": \"s\",\n  \"b\": 2\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", ["s"]),
      ("{\n  \"a\": 1 ,\n  \"password\": \"s\"\n}", "{\n  \"a\": 1 \n}", ["s"]),
      ("{\n  \"password\": \"s\",\n  \"a\": 1\n}", "{\n  \"a\": 1\n}", ["s"]),
      (#"{"p\u0061ssword":"s","a":1}"#, #"{"a":1}"#, ["s"]),
      (#"{"\u0070\u0061\u0073\u0073\u0077\u006f\u0072\u0064":"s"}"#, "{}", ["s"]),
      (#"{"password":"s","password":"t"}"#, "{}", ["s", "t"]),
      (#"{"password":"s","a":1,"password":"t"}"#, #"{"a":1}"#, ["s", "t"]),
      (#"{"a":1,"password":"s","password":"t","b":2,"password":"u"}"#, #"{"a":1,"b":2}"#, ["s", "t", "u"]),
      (#"{"a":1, "password":"s" , "password":"t" }"#, #"{"a":1 }"#, ["s", "t"]),
      (#"{"password":"a\"b\u00e9,}","a":1}"#, #"{"a":1}"#, ["a\"bé,}"]),
      // Names that are not the name, and depths that are not the top.
      (#"{"Password":"s","passwords":"t","":"u"}"#, #"{"Password":"s","passwords":"t","":"u"}"#, []),
      (#"{"a":{"password":"s"},"b":[{"password":"t"}]}"#, #"{"a":{"password":"s"},"b":[{"password":"t"}]}"#, []),
      (#"{"a":"\"password\":\"s\""}"#, #"{"a":"\"password\":\"s\""}"#, []),
    ] as [(String, String, [String])])
  func thePasswordGoesAndNothingElse(posted: String, kept: String, passwords: [String]) throws {
    let envelope = try ResponseBodyV1.Envelope(parsing: Array(posted.utf8))
    #expect(String(decoding: envelope.bytes, as: UTF8.self) == kept)
    #expect(try envelope.body == ResponseBodyV1(parsing: Array(kept.utf8)))
    #expect(envelope.passwords.count == passwords.count)
    for (found, expected) in zip(envelope.passwords, passwords) {
      #expect(found.isEqual(toUTF8: Array(expected.utf8)))
      #expect(!found.isEqual(toUTF8: Array((expected + "x").utf8)) && !found.isEqual(toUTF8: Array("z".utf8)))
    }
  }

  @Test(arguments: ["5", "null", "true", "[\"s\"]", "{\"s\":1}"])
  func aPasswordThatIsNoStringGoesTooAndEqualsNothing(value: String) throws {
    let envelope = try ResponseBodyV1.Envelope(parsing: Array("{\"password\":\(value),\"a\":1}".utf8))
    #expect(String(decoding: envelope.bytes, as: UTF8.self) == #"{"a":1}"#)
    #expect(envelope.passwords.count == 1)
    #expect(envelope.passwords.allSatisfy { !$0.isEqual(toUTF8: Array(value.utf8)) && !$0.isEqual(toUTF8: []) })
  }

  @Test(arguments: ["", "[]", "\"password\"", "{\"password\":\"s\"", "{\"password\":\"s\"}}", "{\"password\" \"s\"}"])
  func whatIsNoObjectIsRefused(posted: String) {
    #expect(throws: JSONError.self) { try ResponseBodyV1.Envelope(parsing: Array(posted.utf8)) }
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func removingThenReadingIsReadingThenDropping(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      // The plain member list with passwords put in at random places, under the name as it stands and escaped.
      var members = random.object().members.filter { $0.key != "password" }
      let plain = JSONObject(members)
      let count = Int.random(in: 0...3, using: &random)
      for index in 0..<count {
        let secret = JSONObject.Member(key: "password", value: .string("secret \(index) \(random.text())"))
        members.insert(secret, at: Int.random(in: 0...members.count, using: &random))
      }
      let posted = random.spaced(.object(JSONObject(members)))
      let escaped = String(decoding: posted, as: UTF8.self)
        .split(separator: "\"password\"", omittingEmptySubsequences: false).joined(separator: "\"pass\\u0077ord\"")
      for body in [posted, Array(escaped.utf8)] {
        let envelope = try ResponseBodyV1.Envelope(parsing: body)
        #expect(try JSONObject(parsing: envelope.bytes) == plain)
        #expect(envelope.body.json == plain)
        #expect(envelope.passwords.count == count)
        #expect(isSubsequence(envelope.bytes, of: body))
        if count == 0 { #expect(envelope.bytes == body) }
      }
    }
  }

  @Test func nothingPrintsASecret() throws {
    let envelope = try ResponseBodyV1.Envelope(parsing: Array(#"{"password":"hush-hush","a":1}"#.utf8))
    var dumped = ""
    dump(envelope, to: &dumped)
    #expect(
      !dumped.contains("hush") && !"\(envelope)".contains("hush") && !String(reflecting: envelope).contains("hush"))
  }

  private func isSubsequence(_ part: [UInt8], of whole: [UInt8]) -> Bool {
    var rest = whole[...]
    for byte in part {
      guard let index = rest.firstIndex(of: byte) else { return false }
      rest = rest[(index + 1)...]
    }
    return true
  }
}
