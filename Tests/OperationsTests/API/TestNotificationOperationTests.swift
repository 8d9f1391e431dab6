import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import Testing

@testable import Operations

@Suite("millrace api test-notification", .timeLimit(.minutes(15)))
struct TestNotificationOperationTests {
  private let fixture: APIFixture
  private let path = "inApps/v1/notifications/test"

  init() throws {
    fixture = try APIFixture()
    fixture.store.answer("POST production /\(path)", .init(body: ["testNotificationToken": "t-1"]))
  }

  @Test("the status is polled until Apple has tried, through missing statuses and temporary errors")
  func followed() async throws {
    fixture.store.answer(
      "GET production /\(path)/t-1", .error(.testNotificationNotFound), .error(.generalInternalRetryable),
      try status([.success]))
    let delivery = try await run(waiting: .seconds(600), pauses: 3)
    #expect(delivery.outcome == .delivered && delivery.status == .success)
    #expect(delivery.notification?.notificationType == .test)
    #expect(fixture.store.asked.count == 4)
    #expect(fixture.notes.lines == ["requested in Production, token t-1"])
    let json = try JSONObject(parsing: Array(delivery.jsonLine.utf8))
    #expect(
      json.members.map(\.key) == [
        "testNotificationToken", "environment", "outcome", "sendAttempts", "notification",
      ])
    #expect(json["outcome"] == "delivered")
  }

  @Test("a failed attempt is reported, with the next one in an hour")
  func failed() async throws {
    fixture.store.answer("GET production /\(path)/t-1", try status([.tlsIssue]))
    let delivery = try await run(waiting: .seconds(600), pauses: 1)
    #expect(delivery.outcome == .failed && delivery.status == .failure)
    let lines = delivery.lines(lineWidth: nil, usesColor: false)
    #expect(lines.count == 2 && lines[1].contains("TLS_ISSUE") && lines[1].contains("certificate"))
    #expect(delivery.sentence.contains("App Store Connect"))
  }

  @Test("a timeout without a result is reported as such")
  func pending() async throws {
    fixture.store.answer("GET production /\(path)/t-1", .error(.testNotificationNotFound))
    let delivery = try await run(waiting: .seconds(20), pauses: 2)
    #expect(delivery.outcome == .pending && delivery.status == .failure)
    #expect(delivery.lines(lineWidth: nil, usesColor: false).isEmpty)
    #expect(delivery.sentence.contains("--wait"))
  }

  @Test("without a URL in App Store Connect, the request fails with the configuration status")
  func noURL() async throws {
    fixture.store.answer("POST production /\(path)", .error(.serverNotificationUrlNotFound))
    let error = await #expect(throws: APIError.self) { try await run(waiting: .seconds(20), pauses: 0) }
    #expect(FailureReport(try #require(error)).status == .configuration)
  }

  /// Every known failure has a hint; a success has none.
  @Test("every result has a hint", arguments: SendAttemptResult.allKnown)
  func advice(result: SendAttemptResult) {
    #expect((TestDelivery.advice(result) == nil) == (result == .success))
  }

  /// Runs the operation for `pauses` pauses. Its clock is not the client's, so calls take no time.
  private func run(waiting limit: Duration, pauses: Int) async throws -> TestDelivery {
    let (app, client) = try fixture.client()
    let (time, notes) = (ManualClock(), fixture.notes.output())
    async let delivery = TestNotificationOperation(client, in: app.oneEnvironment, clock: time.clock)
      .run(waiting: limit) { notes.note($0) }
    for _ in 0..<pauses {
      await time.waitForSleepers()
      time.advance(by: .seconds(10))
    }
    return try await delivery
  }

  private func status(_ results: [SendAttemptResult]) throws -> FakeAppStore.Answer {
    var response = CheckTestNotificationResponse()
    response.signedPayload = String(decoding: try fixture.fixture.sample(.test).jws, as: UTF8.self)
    response.sendAttempts = results.map { result in
      var attempt = SendAttemptItem()
      attempt.attemptDate = APIFixture.now
      attempt.sendAttemptResult = result
      return attempt
    }
    return .init(body: response.json)
  }
}
