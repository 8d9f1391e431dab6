import AppStore
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing

@testable import AppStoreSimulator

@Suite struct PostOutcomeTests {
  @Test func `errors have Apple's names`() {
    let expected: [(any Error, SendAttemptResult)] = [
      (HTTPClientError.readTimeout, .timedOut), (HTTPClientError.connectTimeout, .timedOut),
      (HTTPClientError.deadlineExceeded, .timedOut), (HTTPClientError.remoteConnectionClosed, .prematureClose),
      (HTTPClientError.redirectCycleDetected, .circularRedirect), (HTTPParserError.invalidVersion, .invalidResponse),
      (IOError(errnoCode: 104, reason: "reset"), .socketIssue), (ChannelError.ioOnClosedChannel, .socketIssue),
      (HTTPClientError.invalidURL, .other),
    ]
    for (error, result) in expected { #expect(HTTPPost.result(of: error) == result, "\(error)") }
  }

  @Test(.timeLimit(.minutes(15))) func `a closed port is a socket issue`() async throws {
    let client = HTTPPost.client(connections: 1)
    let outcome = await HTTPPost(client: client, timeout: .seconds(10))("http://127.0.0.1:1/", Array("{}".utf8))
    try await client.shutdown()
    #expect(outcome == PostOutcome(.socketIssue))
  }
}
