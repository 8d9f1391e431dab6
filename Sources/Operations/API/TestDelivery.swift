// The delivery state of a test notification, and whether asking Apple again can change it. Pure.

package import AppStore

/// The known delivery state of a test notification.
package struct TestDelivery: Sendable, Hashable {
  /// The outcome of a delivery.
  package enum Outcome: String, Sendable, Hashable {
    /// The server received the notification.
    case delivered
    /// Apple's attempt failed. Apple retries in production, but not in the sandbox.
    case failed
    /// Apple has not tried yet.
    case pending
  }

  /// The token that identifies the test at Apple.
  package var token: String
  /// The environment of the test.
  package var environment: AppStoreEnvironment
  /// The attempts so far, oldest first.
  package var attempts: [SendAttemptItem]
  /// The notification, once Apple's status includes it.
  package var notification: ResponseBodyV2DecodedPayload?

  /// A test notification that was requested and has no status yet.
  package init(token: String, environment: AppStoreEnvironment) {
    self.token = token
    self.environment = environment
    attempts = []
  }

  /// The outcome so far.
  package var outcome: Outcome {
    if attempts.contains(where: { $0.sendAttemptResult == .success }) { return .delivered }
    return attempts.isEmpty ? .pending : .failed
  }

  /// Whether asking again within minutes is pointless: Apple's first retry comes after an hour.
  package var isSettled: Bool { outcome != .pending }

  /// The attempts as a table, followed by a sentence.
  package func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
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
      TextColumn("ATTEMPT", alignment: .right), TextColumn("WHEN"), TextColumn("RESULT"), TextColumn("CHECK"),
    ]
    return TextTable.lines(columns, rows: rows, lineWidth: lineWidth, usesColor: usesColor)
  }

  /// The delivery as one JSON object.
  package var jsonLine: String {
    var object: JSONObject = [
      "testNotificationToken": .string(token), "environment": environment.jsonValue,
      "outcome": .string(outcome.rawValue), "sendAttempts": attempts.jsonValue,
    ]
    object["notification"] = notification?.jsonValue
    return String(decoding: object.serialized(), as: UTF8.self)
  }

  /// The thing to check after a failed attempt.
  static func advice(_ result: SendAttemptResult) -> String? {
    switch result {
    case .success: nil
    case .timedOut, .noResponse: "whether the server is up and answers within Apple's time limit"
    case .tlsIssue: "the certificate's chain, names and dates, and TLS 1.2 or later"
    case .circularRedirect: "redirects in front of the server"
    case .socketIssue, .prematureClose: "a proxy or load balancer that closes connections"
    case .unsupportedCharset: "the character set of the response"
    case .invalidResponse: "the server at this URL: its response is not valid HTTP"
    case .unsuccessfulHTTPResponseCode: "the response status; Apple expects 200 to 206"
    default: "the server's log for that time"
    }
  }
}
