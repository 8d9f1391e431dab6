// Implements `millrace api test-notification`: asks Apple to post a TEST notification, then asks for its status.

package import AppStore
package import AppStoreServerAPI
internal import AppStoreSignature
internal import KafkaClient
package import MillraceTime

/// Requests a test notification and waits for Apple's attempt to deliver it.
package struct TestNotificationOperation: Sendable {
  private let client: AppStoreServerClient
  private let environment: AppStoreEnvironment
  private let clock: MillraceClock

  /// Creates a test of the URL that App Store Connect has for this environment.
  package init(_ client: AppStoreServerClient, in environment: AppStoreEnvironment, clock: MillraceClock) {
    self.client = client
    self.environment = environment
    self.clock = clock
  }

  /// Requests a test notification and polls its status until Apple has tried to deliver it or `limit` has passed.
  ///
  /// A status that does not exist yet (4040008) and transient errors are retried.
  ///
  /// - Parameters:
  ///   - limit: The maximum wait for the first attempt, in the clock's time. The client's own limit applies to the
  ///     request.
  ///   - tell: Receives progress messages for people.
  package func run(waiting limit: Duration, tell: @Sendable (String) -> Void) async throws -> TestDelivery {
    let token = try await client.requestTestNotification(in: environment).value
    tell("requested in \(environment), token \(token)")
    let end = clock.now.advanced(by: limit)
    var delivery = TestDelivery(token: token, environment: environment)
    // Apple delivers within a second or two. The endpoint allows one call per second, in the sandbox one per 10 seconds.
    var backoff = Backoff(from: .seconds(2), upTo: .seconds(10))
    while !delivery.isSettled, clock.now < end {
      try await clock.sleep(until: min(end, clock.now.advanced(by: backoff.next())))
      if let sent = try await status(of: token) {
        delivery.attempts = sent.sendAttempts
        delivery.notification = sent.notification.payload
      }
    }
    return delivery
  }

  /// The status; nil if Apple does not have it yet.
  private func status(of token: String) async throws(APIError) -> SentNotification? {
    do {
      return try await client.getTestNotificationStatus(token, in: environment).value
    } catch {
      guard error.mayPassByWaiting else { throw error }
      return nil
    }
  }
}

extension APIError {
  /// Whether the same request may succeed in a moment.
  fileprivate var mayPassByWaiting: Bool {
    switch kind {
    case .budget, .transport, .deadline: true
    case .refused, .rateLimited: errorClass == .retryNow || errorClass == .retryLater
    case .violation, .credentials, .unauthorized, .cancelled, .undecodable, .unverifiable: false
    }
  }
}

extension TestDelivery {
  /// The outcome as a sentence that says what to do.
  package var sentence: String {
    switch outcome {
    case .delivered: "The \(environment) URL received it."
    case .failed:
      "Apple's delivery failed. Correct the \(environment) URL in App Store Connect or the server, and test again."
    case .pending:
      "Apple has not tried yet. Wait longer with --wait, or look for the notification in the server's log."
    }
  }

  /// The exit status of the command.
  package var status: CommandStatus { outcome == .delivered ? .success : .failure }
}
