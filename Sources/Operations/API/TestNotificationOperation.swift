// `millrace api test-notification`: asks Apple to post a TEST, then asks what became of it.

public import AppStore
public import AppStoreServerAPI
internal import AppStoreSignature
public import Clocks

/// Requests a test notification and follows it.
public struct TestNotificationOperation: Sendable {
  private let client: AppStoreServerClient
  private let environment: AppStoreEnvironment
  private let clock: MillraceClock

  /// A test of the URL that App Store Connect has for this environment.
  public init(_ client: AppStoreServerClient, in environment: AppStoreEnvironment, clock: MillraceClock) {
    self.client = client
    self.environment = environment
    self.clock = clock
  }

  /// Requests a test notification, and asks for its status until Apple has tried or `limit` is over.
  ///
  /// That the status is not there yet (4040008), and errors that another try may not meet, are waited out.
  ///
  /// - Parameters:
  ///   - limit: how long to wait for the first attempt, in the clock's time; the request itself has the client's limit.
  ///   - tell: takes what happens, for people.
  public func run(waiting limit: Duration, tell: @Sendable (String) -> Void) async throws -> TestDelivery {
    let token = try await client.requestTestNotification(in: environment).value
    tell("requested in \(environment), token \(token)")
    let end = clock.now.advanced(by: limit)
    var delivery = TestDelivery(token: token, environment: environment)
    var pause = Self.firstPause
    while !delivery.isSettled, clock.now < end {
      try await clock.sleep(until: min(end, clock.now.advanced(by: pause)))
      pause = min(pause * 2, Self.longestPause)
      if let sent = try await status(of: token) {
        delivery.attempts = sent.sendAttempts
        delivery.notification = sent.notification.payload
      }
    }
    return delivery
  }

  /// The status; nil where it is not there for now.
  private func status(of token: String) async throws(APIError) -> SentNotification? {
    do {
      return try await client.getTestNotificationStatus(token, in: environment).value
    } catch {
      guard error.mayPassByWaiting else { throw error }
      return nil
    }
  }

  /// Apple delivers within a second or two; the endpoint allows one call a second, in the sandbox one in ten.
  private static let firstPause = Duration.seconds(2)
  private static let longestPause = Duration.seconds(10)
}

extension APIError {
  /// Whether the same question may be answered in a moment.
  fileprivate var mayPassByWaiting: Bool {
    switch kind {
    case .budget, .transport, .deadline: true
    case .refused, .rateLimited: errorClass == .retryNow || errorClass == .retryLater
    case .violation, .credentials, .unauthorized, .cancelled, .undecodable, .unverifiable: false
    }
  }
}

extension TestDelivery {
  /// How it ended, in a sentence that says what to do.
  public var sentence: String {
    switch outcome {
    case .delivered: "The \(environment) URL received it."
    case .failed:
      "Apple did not get through. Correct the \(environment) URL in App Store Connect or the server, and test again."
    case .pending:
      "Apple has not tried yet. Wait longer with --wait, or look into the server's log for the notification."
    }
  }

  /// How the process ends.
  public var status: CommandStatus { outcome == .delivered ? .success : .failure }
}
