import AppStore
import HTTPTypes
import Testing

@testable import AppStoreSimulator

@Suite struct MessagingEndpointTests {
  private static let image = "0d4e6e5c-6d5d-4a8b-8a0e-111111111111"
  private static let message = "0d4e6e5c-6d5d-4a8b-8a0e-222222222222"
  private static let base = "/inApps/v1/messaging/"
  private static let url: JSONObject = ["realtimeURL": "https://example.com/messages"]

  private let simulator: SimulatorFixture

  init() throws {
    simulator = try SimulatorFixture {
      $0.messaging = MessagingSettings(
        reviewDelay: .seconds(60), performanceTestDuration: .seconds(30), passesPerformanceTest: true, capacity: 2)
    }
  }

  private func code(
    _ method: HTTPRequest.Method, _ path: String, body: JSONObject? = nil,
    in environment: AppStoreEnvironment = .production
  ) async throws -> Int64? {
    let answer = try await simulator.answer(method, Self.base + path, body: body, in: environment)
    return answer.status == 200 ? nil : try answer.code
  }

  private func upload(
    _ image: String = image, _ bytes: [UInt8] = TestImages.png(), size: String? = nil,
    in environment: AppStoreEnvironment = .production
  ) async throws -> Int64? {
    let outcome = try await simulator.services.pipeline.respond(
      to: IncomingRequest(
        environment: environment, method: .put, path: Self.base + "image/" + image,
        query: size.map { [("imageSize", $0)] } ?? [],
        authorization: try simulator.caller.authorization(now: simulator.now), body: bytes))
    guard case .answer(let answer) = outcome else { throw UnexpectedOutcome(outcome: outcome) }
    return answer.status == 200 ? nil : try answer.code
  }

  private func body(showing image: String? = image) -> JSONObject {
    var body: JSONObject = ["header": "Stay", "body": "It gets better."]
    if let image { body["image"] = ["imageIdentifier": .string(image), "altText": "A star"] }
    return body
  }

  @Test func `an image is uploaded once, reviewed, listed and deleted`() async throws {
    #expect(try await upload() == nil)
    #expect(try await upload() == 4_090_000)
    #expect(try await upload("1") == 4_000_000)
    #expect(try await upload(Self.message, [1, 2, 3]) == 4_000_161)
    #expect(try await upload(Self.message, size: "HUGE") == 4_000_216)
    let pending = try await simulator.json(.get, Self.base + "image/list")
    #expect(
      pending["imageIdentifiers"] == [
        ["imageIdentifier": .string(Self.image), "imageState": "PENDING", "imageSize": "FULL_SIZE"]
      ])
    try simulator.pass(.seconds(60))
    let approved = try await simulator.json(.get, Self.base + "image/list")
    #expect(
      approved["imageIdentifiers"] == [
        ["imageIdentifier": .string(Self.image), "imageState": "APPROVED", "imageSize": "FULL_SIZE"]
      ])
    #expect(try await simulator.json(.get, Self.base + "image/list", in: .sandbox)["imageIdentifiers"] == [])
    #expect(try await code(.delete, "image/" + Self.image) == nil)
    #expect(try await code(.delete, "image/" + Self.image) == 4_040_014)
  }

  @Test func `a message needs its image, and an image in use cannot be deleted`() async throws {
    #expect(try await code(.put, "message/" + Self.message, body: body()) == 4_040_014)
    #expect(try await upload() == nil)
    #expect(try await code(.put, "message/" + Self.message, body: body()) == nil)
    #expect(try await code(.put, "message/" + Self.message, body: body()) == 4_090_001)
    #expect(try await code(.delete, "image/" + Self.image) == 4_030_019)
    #expect(
      try await simulator.json(.get, Self.base + "message/list")["messageIdentifiers"] == [
        ["messageIdentifier": .string(Self.message), "messageState": "PENDING"]
      ])
    #expect(try await code(.delete, "message/" + Self.message) == nil)
    #expect(try await code(.delete, "message/" + Self.message) == 4_040_015)
    #expect(try await code(.delete, "image/" + Self.image) == nil)
  }

  @Test func `the number of images and messages is limited`() async throws {
    for digit in 1...3 {
      let id = "0d4e6e5c-6d5d-4a8b-8a0e-00000000000\(digit)"
      #expect(try await upload(id) == (digit < 3 ? nil : 4_030_014))
      #expect(try await code(.put, "message/" + id, body: body(showing: nil)) == (digit < 3 ? nil : 4_030_016))
    }
  }

  @Test func `a default message is an approved message for a subscription and a locale`() async throws {
    let path = "default/\(SimulatorFixture.monthly)/en-US"
    let choice: JSONObject = ["messageIdentifier": .string(Self.message)]
    #expect(try await code(.put, path, body: choice) == 4_040_015)
    #expect(try await code(.put, "message/" + Self.message, body: body(showing: nil)) == nil)
    #expect(try await code(.put, path, body: choice) == 4_030_017)
    #expect(try await code(.get, path) == 4_040_020)
    try simulator.pass(.seconds(60))
    #expect(try await code(.put, "default/\(SimulatorFixture.monthly)/english", body: choice) == 4_000_164)
    #expect(try await code(.put, "default/nothing/en-US", body: choice) == 4_000_023)
    #expect(try await code(.put, "default/\(SimulatorFixture.coins)/en-US", body: choice) == 4_000_023)
    #expect(try await code(.put, path, body: [:]) == 4_000_000)
    #expect(try await code(.put, path, body: choice) == nil)
    #expect(try await simulator.json(.get, Self.base + path)["messageIdentifier"] == .string(Self.message))
    #expect(try await code(.delete, path) == nil)
    #expect(try await code(.delete, path) == 4_040_020)
    #expect(try await code(.put, path, body: choice) == nil)
    #expect(try await code(.delete, "message/" + Self.message) == nil)
    #expect(try await code(.get, path) == 4_040_020)
  }

  @Test func `a message cannot be a default before its image is approved`() async throws {
    // An image can be newer than its message only if it was deleted meanwhile, which the message prevents. The test
    // therefore uses the catalogue directly.
    var catalogue = MessageCatalogue(reviewDelay: .seconds(60), capacity: 2)
    let (image, message) = (try #require(CompactUUID(Self.image)), try #require(CompactUUID(Self.message)))
    try catalogue.upload(image: image, TestImages.png(), size: .fullSize, at: .newYear + .seconds(1))
    try catalogue.upload(message: message, RetentionMessage(body()), at: .newYear)
    let audience = MessageCatalogue.Audience(productId: "a", locale: "de")
    let failure = Result { () throws(APIFailure) in
      try catalogue.setDefault(message, for: audience, at: .newYear + .seconds(60))
    }
    guard case .failure(.imageNotApproved) = failure else {
      Issue.record("\(failure)")
      return
    }
    try catalogue.setDefault(message, for: audience, at: .newYear + .seconds(61))
    #expect(try catalogue.defaultMessage(for: audience) == message)
  }

  @Test(arguments: ["http://example.com", "https://", "https:///x", "https://a b", "example.com", "https://é.example"])
  func `a real-time URL needs HTTPS and a host`(url: String) async throws {
    #expect(try await code(.put, "realtime/url", body: ["realtimeURL": .string(url)], in: .sandbox) == 4_000_215)
  }

  @Test func `production accepts a real-time URL only after a successful performance test`() async throws {
    let transaction = try simulator.buy(in: simulator.sandbox)
    let test: JSONObject = ["originalTransactionId": .string(String(transaction))]
    #expect(try await code(.put, "realtime/url", body: Self.url) == 4_030_026)
    #expect(try await code(.post, "performanceTest", body: test, in: .sandbox) == 4_040_021)
    #expect(try await code(.put, "realtime/url", body: Self.url, in: .sandbox) == nil)
    #expect(try await code(.post, "performanceTest", body: test) == 4_000_211)
    #expect(try await code(.post, "performanceTest", body: [:], in: .sandbox) == 4_000_211)
    #expect(
      try await code(.post, "performanceTest", body: ["originalTransactionId": "12"], in: .sandbox) == 4_040_005)
    let started = try await simulator.json(.post, Self.base + "performanceTest", body: test, in: .sandbox)
    let id = try #require(started["requestId"].flatMap(String.init(jsonValue:)))
    #expect(try await code(.post, "performanceTest", body: test, in: .sandbox) == 4_000_213)
    try simulator.pass(.seconds(15))
    let half = try await simulator.json(.get, Self.base + "performanceTest/result/" + id, in: .sandbox)
    #expect(half["result"] == "PENDING")
    #expect(half["numPending"] == 500)
    #expect(try await code(.put, "realtime/url", body: Self.url) == 4_030_026)
    try simulator.pass(.seconds(15))
    let whole = try await simulator.json(.get, Self.base + "performanceTest/result/" + id, in: .sandbox)
    #expect(whole["result"] == "PASS")
    #expect(whole["successRate"] == 100)
    #expect(whole["target"] == Self.url["realtimeURL"])
    #expect(whole["config"] == started["config"])
    #expect(try await code(.put, "realtime/url", body: Self.url) == nil)
    #expect(try await simulator.json(.get, Self.base + "realtime/url") == Self.url)
    #expect(try await code(.delete, "realtime/url") == nil)
    #expect(try await code(.delete, "realtime/url") == 4_040_021)
    #expect(try await code(.get, "realtime/url") == 4_040_021)
    #expect(try await simulator.json(.get, Self.base + "realtime/url", in: .sandbox) == Self.url)
    #expect(try await code(.get, "performanceTest/result/x", in: .sandbox) == 4_000_212)
    #expect(try await code(.get, "performanceTest/result/" + Self.image, in: .sandbox) == 4_040_018)
  }

  @Test func `a failed test reports its failures and enables nothing`() throws {
    var setup = RealtimeSetup(MessagingSettings(performanceTestDuration: .seconds(1), passesPerformanceTest: false))
    let id = try #require(CompactUUID(Self.image))
    try setup.configure("https://example.com", in: .sandbox, at: .newYear)
    try setup.test(id, at: .newYear)
    let report = PerformanceReport.result(try setup.run(id), at: .newYear + .seconds(1))
    #expect(report["result"] == "FAIL")
    #expect(report["failures"] == ["TIMED_OUT": 500])
    let failure = Result { () throws(APIFailure) in
      try setup.configure("https://example.com", in: .production, at: .newYear + .seconds(1))
    }
    guard case .failure(.noPassingTest) = failure else {
      Issue.record("\(failure)")
      return
    }
  }
}
