// Keeps the receiver alive that a team had before: every notification is posted to it as Apple would have, in the order
// of its key, until it is taken or given up. Retries, order, dead letters and the memory of what was done are the
// runtime's; what is left for a worker stands here.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
public import Millrace

/// The worker behind `millrace-forward`: one for each receiver of `forward` in the configuration.
public struct Forwarder: NotificationWorker {
  /// Each receiver's worker has a name of its own.
  public static let name = "forward"
  /// Everything, unless a receiver wants less.
  public static let families = NotificationFamily.all

  /// Few posts at a time, since the receiver is as old as it is; tried for longer than Apple would have.
  public static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.ordering = .strict
    policy.parallelism = 2
    policy.handlerTimeout = .seconds(15)
    policy.maximumAttempts = 32
    return policy
  }

  /// One worker for each receiver: what one does not take holds up no other.
  public static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity] {
    let identities = configuration.forward.compactMap { receiver in
      receiver.name.map { name in
        WorkerIdentity(
          name: ForwardSettings.workerName(name),
          families: receiver.families.isEmpty ? families : Set(receiver.families.map(NotificationFamily.init)),
          policy: policy)
      }
    }
    guard !identities.isEmpty else {
      throw MillraceError(.configuration, "nowhere to forward to", at: "forward", remedy: "name a receiver and its url")
    }
    return identities
  }

  private let receiver: ForwardSettings
  private let url: String
  private let headers: [APIHeaders.Field]
  private let secrets: [String: [UInt8]]
  private let http: any HTTPExchange

  /// Reads the secrets it needs.
  /// - Throws: `MillraceError` that names the file that cannot be read.
  public init(_ setup: WorkerSetup) throws {
    let receivers = setup.configuration.forward
    guard let receiver = receivers.first(where: { $0.name.map(ForwardSettings.workerName) == setup.name }),
      let url = receiver.url
    else { throw MillraceError(.configuration, "no receiver for \(setup.name)", at: "forward", remedy: "add it") }
    var secrets: [String: [UInt8]] = [:]
    for app in setup.configuration.apps where receiver.restorePassword {
      secrets[app.bundleId] = try app.readPassword()
    }
    self.receiver = receiver
    self.url = url
    self.secrets = secrets
    headers = try receiver.readHeaders().map { APIHeaders.Field(name: $0.name, value: $0.value) }
    http = setup.http
  }

  /// Posts the notification and judges the answer.
  public func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
    guard takes(notification), let body = try body(of: notification) else { return .ignore }
    let request = ExchangeRequest(method: .post, url: url, headers: fields(of: notification), body: body)
    let answer: ExchangeAnswer
    do {
      answer = try await http.send(request)
    } catch {
      throw RetryableFailure("\(error.what) (\(error.progress.rawValue))", code: "unreachable")
    }
    switch Verdict(status: answer.status, retryAfter: answer.headers["Retry-After"]) {
    case .taken: return .ignore
    case .later(let code, let delay): throw RetryableFailure("answered \(answer.status)", after: delay, code: code)
    case .refused where context.attempt + 1 >= receiver.refusedAttempts:
      return .deadLetter("refused", "answered \(answer.status) at try \(context.attempt + 1); see the receiver's log")
    case .refused: throw RetryableFailure("answered \(answer.status)", code: "refused")
    }
  }

  private func takes(_ notification: Notification) -> Bool {
    var type = notification.payload?.notificationType?.rawValue
    if case .v1(let body) = notification.content { type = body.notification_type?.rawValue }
    return receiver.takes(type: type, bundleId: notification.bundleId, environment: notification.environment)
  }

  /// What Apple posted; nil for what it did not post.
  private func body(of notification: Notification) throws -> [UInt8]? {
    if notification.payload != nil { return PostedBody.v2(notification.bytes) }
    guard case .v1 = notification.content else { return nil }
    return PostedBody.v1(
      notification.bytes, secret: try secret(for: notification), place: notification.passwordPlace)
  }

  private func secret(for notification: Notification) throws -> [UInt8]? {
    guard receiver.restorePassword else { return nil }
    if let secret = notification.bundleId.flatMap({ secrets[$0] }) { return secret }
    throw PermanentFailure(
      "no-shared-secret",
      "no shared secret for \(notification.bundleId ?? "an app that is not named"); set sharedSecretFiles and requeue")
  }

  private func fields(of notification: Notification) -> APIHeaders {
    var fields: [APIHeaders.Field] = [
      .init(name: "Content-Type", value: "application/json"),
      .init(name: "User-Agent", value: "millrace-forward/\(MillraceVersion.current)"),
      // The same at every try, so that a receiver can tell a repetition.
      .init(name: "webhook-id", value: notification.id),
    ]
    if let trace = notification.traceParent { fields.append(.init(name: "traceparent", value: "\(trace)")) }
    return APIHeaders(fields + headers)
  }
}
