import AppStore
import AppStoreSigning
import Testing

@testable import Forward

@Suite struct PostedBodyTests {
  @Test func `a token is posted in the JSON object that Apple uses`() throws {
    let body = PostedBody.v2(Array("a-b_c.d.e".utf8))
    #expect(body == Array(#"{"signedPayload":"a-b_c.d.e"}"#.utf8))
    #expect(try ResponseBodyV2(parsing: body).signedPayload == "a-b_c.d.e")
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"password":"s","a":1}"#), (" { \"a\":1}\n", " {\"password\":\"s\", \"a\":1}\n"),
    ("{}", #"{"password":"s"}"#), ("{ \n}", "{\"password\":\"s\" \n}"),
  ])
  func `a secret without a known place is inserted first, and nothing else changes`(kept: String, posted: String) {
    #expect(PostedBody.v1(Array(kept.utf8), secret: Array("s".utf8), place: nil) == Array(posted.utf8))
    #expect(PostedBody.v1(Array(kept.utf8), secret: nil, place: nil) == Array(kept.utf8))
    let beyond = ResponseBodyV1.PasswordPlace(offset: 1_000, before: [], after: [])
    #expect(PostedBody.v1(Array(kept.utf8), secret: Array("s".utf8), place: beyond) == Array(posted.utf8))
  }

  @Test(arguments: [
    #"{"password":"s3cret","a":1}"#, #"{"a":1,"password":"s3cret"}"#, #"{"password":"s3cret"}"#,
    #"{"a":1,"password":"s3cret","b":{"password":"x"}}"#,
    "{ \"a\" : 1 ,\n  \"password\" : \"s3cret\" ,\n  \"b\":2 }\r\n",
    "{ \"a\" : 1 ,\n  \"password\" : \"s3cret\" }", #"{"p\u0061ssword":"s3cret","a":1}"#,
  ])
  func `a secret is inserted where the ingress removed it`(posted: String) throws {
    let envelope = try ResponseBodyV1.Envelope(parsing: Array(posted.utf8))
    let place = try #require(envelope.passwordPlace)
    #expect(PostedBody.v1(envelope.bytes, secret: Array("s3cret".utf8), place: place) == Array(posted.utf8))
    #expect(!(place.before + place.after).contains(UInt8(ascii: "3")), "the header must not contain the secret")
  }

  @Test(arguments: [
    #"{"a":1}"#, #"{"password":"a","password":"b"}"#, #"{"password":1,"a":1}"#, #"{"password":"s\u0033cret"}"#,
    #"{"password":"# + String(repeating: " ", count: 300) + #""s"}"#,
  ])
  func `a body that cannot be restored byte for byte has no place`(posted: String) throws {
    #expect(try ResponseBodyV1.Envelope(parsing: Array(posted.utf8)).passwordPlace == nil)
  }

  @Test(arguments: [NotificationTypeV1.didRenew, .refund, .consumptionRequest])
  func `the ingress removes an inserted secret in the same place`(type: NotificationTypeV1) throws {
    var samples = SampleNotificationsV1(password: nil, seed: 7)
    let kept = samples.next(type, at: Timestamp(millisecondsSince1970: 1_767_225_600_000)).body
    let secret = #"quoted " and \ and é"#
    let text = JSON.string(secret).serialized().dropFirst().dropLast()
    let posted = PostedBody.v1(kept, secret: Array(text), place: nil)
    let envelope = try ResponseBodyV1.Envelope(parsing: posted)
    #expect(envelope.bytes == kept)
    #expect(envelope.passwords.map { $0.isEqual(toUTF8: Array(secret.utf8)) } == [true])
  }
}
