// Table tests of the reaction to each of Apple's errors while a history is read.

import AppStore
import AppStoreServerAPI
import MillraceTime
import Testing

@testable import Operations

@Suite("Reactions to errors of a history", .timeLimit(.minutes(15)))
struct HistoryRemedyTests {
  private let fixture: APIFixture

  init() throws { fixture = try APIFixture() }

  private func error(_ answer: FakeAppStore.Answer, startingAt start: Timestamp? = nil) async throws -> APIError {
    fixture.store.answer("POST production /inApps/v1/notifications/history", answer)
    let (_, client) = try fixture.client()
    let request = NotificationHistoryRequest(
      startDate: start ?? APIFixture.now - .seconds(60), endDate: APIFixture.now)
    var pages = client.getUnverifiedNotificationHistory(request, in: .production).makeAsyncIterator()
    do throws(APIError) {
      _ = try await pages.next()
    } catch {
      return error
    }
    throw NoError()
  }

  private struct NoError: Error {}

  @Test(
    "each error leads to one reaction",
    arguments: [
      (.error(.invalidPaginationToken), .beginAnew), (.error(.paginationTokenExpired), .beginAnew),
      (.error(.transactionIdNotFound), .nothingThere), (.error(.startDateTooFarInPast), .outOfReach),
      (.error(.generalInternalRetryable), .again), (.error(.generalInternal), .again), (.init(status: 502), .again),
      (.init(status: 401), .giveUp), (.error(.invalidAppIdentifier), .giveUp), (.error(.generalBadRequest), .giveUp),
    ] as [(FakeAppStore.Answer, HistoryRemedy)])
  func table(answer: FakeAppStore.Answer, remedy: HistoryRemedy) async throws {
    let error = try await error(answer)
    #expect(HistoryRemedy(error, hasToken: true) == remedy, "\(error)")
  }

  @Test("the first page has no token that could have expired")
  func firstPage() async throws {
    #expect(HistoryRemedy(try await error(.error(.paginationTokenExpired)), hasToken: false) == .giveUp)
  }

  @Test("a 429 contains the time to wait for")
  func limited() async throws {
    let error = try await error(.error(.rateLimitExceeded))
    #expect(HistoryRemedy(error, hasToken: true) == .wait(until: try #require(error.retryAt)))
  }

  @Test("errors found before a request is sent")
  func violation() async throws {
    let old = try await error(.init(), startingAt: APIFixture.now - .seconds(181 * 86_400))
    #expect(HistoryRemedy(old, hasToken: false) == .outOfReach)
    let backwards = try await error(.init(), startingAt: APIFixture.now + .seconds(1))
    #expect(HistoryRemedy(backwards, hasToken: false) == .giveUp)
    #expect(fixture.store.asked.isEmpty)
  }
}
