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
      // Other names, and deeper levels.
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
      // The members without passwords, with passwords inserted at random places, under the literal and the escaped
      // name.
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

  @Test(arguments: 0..<40 as Range<UInt64>)
  func passwordsAreFoundWithoutATreeAsTheyAreInIt(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for round in 0..<100 {
      var members = random.object().members
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let value = Bool.random(using: &random) ? .string(random.text()) : random.json(depth: 2)
        members.insert(.init(key: "password", value: value), at: Int.random(in: 0...members.count, using: &random))
      }
      members.append(.init(key: "inside", value: .object(JSONObject(members))))
      var posted = random.spaced(.object(JSONObject(members)))
      if Bool.random(using: &random) {
        let escaped = String(decoding: posted, as: UTF8.self)
          .split(separator: "\"password\"", omittingEmptySubsequences: false).joined(separator: "\"p\\u0061ssword\"")
        posted = Array(escaped.utf8)
      }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: posted[Int.random(in: posted.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      case 1: posted.removeSubrange(Int.random(in: posted.indices, using: &random)...)
      case 2: posted.remove(at: Int.random(in: posted.indices, using: &random))
      default: break
      }
      let comment = Comment("seed \(seed), round \(round)")
      switch (secrets(in: posted), envelope(of: posted)) {
      case (.failure(let found), .failure(let expected)): #expect(found == expected, comment)
      case (.success(let found), .success(let expected)):
        let inTree = try JSONObject(parsing: posted).members.filter { $0.key == "password" }.map(\.value)
        #expect(found.count == inTree.count && expected.passwords.count == inTree.count, comment)
        for (secret, value) in zip(found, inTree) {
          if case .string(let text) = value {
            #expect(secret.isEqual(toUTF8: Array(text.utf8)), comment)
          } else {
            #expect(!secret.isEqual(toUTF8: []), comment)
          }
        }
      case (.success, .failure), (.failure, .success): Issue.record("different results, seed \(seed), round \(round)")
      }
    }
  }

  private func secrets(in posted: [UInt8]) -> Result<[Secret], JSONError> {
    Result { () throws(JSONError) in try ResponseBodyV1.Envelope.passwords(in: posted) }
  }

  private func envelope(of posted: [UInt8]) -> Result<ResponseBodyV1.Envelope, JSONError> {
    Result { () throws(JSONError) in try ResponseBodyV1.Envelope(parsing: posted) }
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
