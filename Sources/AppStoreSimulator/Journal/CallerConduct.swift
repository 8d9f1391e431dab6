// The earlier requests and responses that are needed to detect a broken rule.

internal import AppStore
internal import Crypto

/// Detects requests that arrive too early or repeat a rejected one.
struct CallerConduct: Sendable {
  private struct Pause: Sendable {
    var announced: Timestamp
    var until: Timestamp
  }

  private struct Request: Sendable, Hashable {
    var subject: HourlyLimits.Subject
    var digest: SHA256Digest
  }

  /// The time after a 429 in which further requests are tolerated, because they may already have been in flight.
  let grace: Duration
  private var pauses: [HourlyLimits.Subject: Pause] = [:]
  private var refused: BoundedMemory<Request, Int64>

  init(grace: Duration, capacity: Int = 100_000) {
    self.grace = grace
    refused = BoundedMemory(capacity: capacity)
  }

  /// Records that a 429 told the caller to wait.
  mutating func pause(_ subject: HourlyLimits.Subject, until: Timestamp, now: Timestamp) {
    if let pause = pauses[subject], pause.until >= until { return }
    pauses[subject] = Pause(announced: now, until: until)
  }

  /// Whether a request arrives although a 429 told the caller to wait.
  func isTooEarly(_ subject: HourlyLimits.Subject, now: Timestamp) -> Bool {
    guard let pause = pauses[subject] else { return false }
    return now < pause.until && now - pause.announced > grace
  }

  /// The error code with which the same request was permanently rejected before; nil if it was not.
  func finalAnswer(_ subject: HourlyLimits.Subject, path: String, body: [UInt8]) -> Int64? {
    guard subject.endpoint.hasEffect else { return nil }
    return refused[Self.request(subject, path, body)]
  }

  /// Records a response if it is a permanent rejection. Not found is not permanent, because Apple may find the object
  /// later.
  mutating func remember(_ failure: APIFailure, _ subject: HourlyLimits.Subject, path: String, body: [UInt8]) {
    guard subject.endpoint.hasEffect, failure.status == 400 || failure.status == 403 else { return }
    refused[Self.request(subject, path, body)] = failure.code
  }

  private static func request(_ subject: HourlyLimits.Subject, _ path: String, _ body: [UInt8]) -> Request {
    Request(subject: subject, digest: SHA256.hash(data: Array(path.utf8) + [0] + body))
  }
}
