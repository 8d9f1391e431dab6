// What must be remembered of earlier requests to see that a later one breaks a rule.

internal import AppStore
internal import Crypto

/// Watches callers for requests that come too early or once too often.
struct CallerConduct: Sendable {
  private struct Pause: Sendable {
    var announced: Timestamp
    var until: Timestamp
  }

  private struct Request: Sendable, Hashable {
    var subject: HourlyLimits.Subject
    var digest: SHA256Digest
  }

  /// How long after a 429 requests may still come that were under way when it was sent.
  let grace: Duration
  private var pauses: [HourlyLimits.Subject: Pause] = [:]
  private var refused: BoundedMemory<Request, Int64>

  init(grace: Duration, capacity: Int = 100_000) {
    self.grace = grace
    refused = BoundedMemory(capacity: capacity)
  }

  /// A 429 named a time.
  mutating func pause(_ subject: HourlyLimits.Subject, until: Timestamp, now: Timestamp) {
    if let pause = pauses[subject], pause.until >= until { return }
    pauses[subject] = Pause(announced: now, until: until)
  }

  /// Whether a request comes although it was told to wait.
  func isTooEarly(_ subject: HourlyLimits.Subject, now: Timestamp) -> Bool {
    guard let pause = pauses[subject] else { return false }
    return now < pause.until && now - pause.announced > grace
  }

  /// The code with which this very request was refused for good before; nil when it was not.
  func finalAnswer(_ subject: HourlyLimits.Subject, path: String, body: [UInt8]) -> Int64? {
    guard subject.endpoint.hasEffect else { return nil }
    return refused[Self.request(subject, path, body)]
  }

  /// Remembers a refusal, if it is one for good. Not found is not: Apple finds later what it does not find at first.
  mutating func remember(_ failure: APIFailure, _ subject: HourlyLimits.Subject, path: String, body: [UInt8]) {
    guard subject.endpoint.hasEffect, failure.status == 400 || failure.status == 403 else { return }
    refused[Self.request(subject, path, body)] = failure.code
  }

  private static func request(_ subject: HourlyLimits.Subject, _ path: String, _ body: [UInt8]) -> Request {
    Request(subject: subject, digest: SHA256.hash(data: Array(path.utf8) + [0] + body))
  }
}
