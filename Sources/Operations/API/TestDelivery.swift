// What became of a test notification, and whether it is worth asking again. Values: the operation asks, this decides.

public import AppStore

/// The delivery of a test notification as far as it is known.
public struct TestDelivery: Sendable, Hashable {
  /// How it stands.
  public enum Outcome: String, Sendable, Hashable {
    /// The server has it.
    case delivered
    /// Apple tried and did not get through; it tries again in production, not in the sandbox.
    case failed
    /// Apple has not tried yet.
    case pending
  }

  /// What names it at Apple.
  public var token: String
  /// Where it was requested.
  public var environment: AppStoreEnvironment
  /// The attempts so far, in the order they were made.
  public var attempts: [SendAttemptItem]
  /// The notification, once Apple tells it.
  public var notification: ResponseBodyV2DecodedPayload?

  /// A test notification that was requested, and of which nothing is known yet.
  public init(token: String, environment: AppStoreEnvironment) {
    self.token = token
    self.environment = environment
    attempts = []
  }

  /// How it stands.
  public var outcome: Outcome {
    if attempts.contains(where: { $0.sendAttemptResult == .success }) { return .delivered }
    return attempts.isEmpty ? .pending : .failed
  }

  /// Whether asking again within minutes can bring news: Apple's first retry comes after an hour.
  public var isSettled: Bool { outcome != .pending }

  /// The attempts as a table, with a sentence below.
  public func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
    var rows: [[TextCell]] = []
    for (index, attempt) in attempts.enumerated() {
      let result = attempt.sendAttemptResult
      let style: TextStyle = result == .success ? .green : .red
      let advice = result.flatMap { Self.advice($0) }
      rows.append([
        TextCell("\(index + 1)"), TextCell(attempt.attemptDate), TextCell(optional: result?.rawValue, style),
        TextCell(optional: advice),
      ])
    }
    let columns = [
      TextColumn("ATTEMPT", alignment: .right), TextColumn("WHEN"), TextColumn("RESULT"), TextColumn("LOOK AT"),
    ]
    return TextTable.lines(columns, rows: rows, lineWidth: lineWidth, usesColor: usesColor)
  }

  /// The delivery as one JSON object.
  public var jsonLine: String {
    var object: JSONObject = [
      "testNotificationToken": .string(token), "environment": environment.jsonValue,
      "outcome": .string(outcome.rawValue), "sendAttempts": attempts.jsonValue,
    ]
    object["notification"] = notification?.jsonValue
    return String(decoding: object.serialized(), as: UTF8.self)
  }

  /// Where the fault is to be looked for.
  static func advice(_ result: SendAttemptResult) -> String? {
    switch result {
    case .success: nil
    case .timedOut, .noResponse: "is the server up, and does it answer within Apple's time?"
    case .tlsIssue: "certificate chain, its names and dates, TLS 1.2 or later"
    case .circularRedirect: "redirects in front of the server"
    case .socketIssue, .prematureClose: "proxy or load balancer that closes connections"
    case .unsupportedCharset: "the character set of the answer"
    case .invalidResponse: "what answers there: it is not HTTP as Apple expects it"
    case .unsuccessfulHTTPResponseCode: "the status that the server answers; Apple wants 200 to 206"
    default: "the server's log at that time"
    }
  }
}
