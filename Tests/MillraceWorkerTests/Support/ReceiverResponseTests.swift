import AppStore
import AppStoreServerAPI
import Testing

@testable import MillraceWorker

@Suite struct ReceiverResponseTests {
  /// 2026-01-01T00:00:00Z.
  private static let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private static let table: [(status: Int, retryAfter: String?, verdict: ReceiverResponse)] = [
    (200, nil, .taken), (201, nil, .taken), (204, nil, .taken), (299, "60", .taken),
    (301, nil, .refused), (308, nil, .refused), (400, nil, .refused), (401, nil, .refused), (404, "60", .refused),
    (413, nil, .refused), (499, nil, .refused),
    (408, nil, .later(code: "busy", after: nil)), (425, nil, .later(code: "busy", after: nil)),
    (429, "60", .later(code: "busy", after: .seconds(60))),
    (429, "-1", .later(code: "busy", after: nil)),
    (429, "Thu, 01 Jan 2026 00:05:00 GMT", .later(code: "busy", after: .seconds(300))),
    (503, "999999999999", .later(code: "server-error", after: RetryAfter.longestDelay)),
    (500, nil, .later(code: "server-error", after: nil)), (599, nil, .later(code: "server-error", after: nil)),
    (100, nil, .later(code: "server-error", after: nil)), (999, nil, .later(code: "server-error", after: nil)),
  ]

  @Test(arguments: table)
  func `every status has one meaning`(status: Int, retryAfter: String?, verdict: ReceiverResponse) {
    #expect(ReceiverResponse(status: status, retryAfter: retryAfter, now: Self.now) == verdict)
  }
}
