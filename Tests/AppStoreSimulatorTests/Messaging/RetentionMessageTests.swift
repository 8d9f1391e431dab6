import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct RetentionMessageTests {
  private static let id: JSON = "0d4e6e5c-6d5d-4a8b-8a0e-111111111111"
  private static let message: JSONObject = ["header": "Stay", "body": "It gets better."]

  private static func letters(_ count: Int) -> JSON { .string(String(repeating: "x", count: count)) }

  private static func point(_ text: JSON = "More", altText: JSON = "A star") -> JSON {
    ["text": text, "imageIdentifier": id, "altText": altText]
  }

  @Test(
    arguments: [
      ("header", letters(66), nil), ("header", letters(67), APIFailure.headerTooLong), ("header", 1, .badRequest),
      ("body", letters(144), nil), ("body", letters(145), .bodyTooLong), ("body", .null, .badRequest),
      ("image", ["imageIdentifier": id, "altText": letters(150)], nil),
      ("image", ["imageIdentifier": id, "altText": letters(151)], .altTextTooLong),
      ("image", ["imageIdentifier": "1", "altText": "A"], .badRequest), ("image", "x", .badRequest),
      ("image", ["imageIdentifier": id], .badRequest), ("headerPosition", "ABOVE_BODY", nil),
      ("headerPosition", "ABOVE_IMAGE", .aboveImageRequiresAnImage), ("headerPosition", "BELOW", .badRequest),
      ("bulletPoints", .array(Array(repeating: point(letters(66)), count: 5)), nil),
      ("bulletPoints", .array(Array(repeating: point(), count: 6)), .tooManyBulletPoints),
      ("bulletPoints", .array([point(letters(67))]), .bulletPointTextTooLong),
      ("bulletPoints", .array([point(altText: letters(151))]), .altTextTooLong),
      ("bulletPoints", .array([1]), .badRequest), ("bulletPoints", "x", .badRequest),
    ] as [(String, JSON, APIFailure?)])
  func `an invalid member has its own error`(name: String, value: JSON, failure: APIFailure?) {
    var body = Self.message
    body[name] = value
    let found = Result { () throws(APIFailure) in try RetentionMessage(body) }
    switch found {
    case .success: #expect(failure == nil)
    case .failure(let error): #expect(error == failure)
    }
  }

  @Test func `a header above the image is valid if the message has a header`() throws {
    var body = Self.message
    body["headerPosition"] = "ABOVE_IMAGE"
    body["image"] = ["imageIdentifier": Self.id, "altText": "A"]
    #expect(try RetentionMessage(body).images.map { JSON.string($0.text) } == [Self.id])
  }
}
