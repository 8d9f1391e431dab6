// Forwards every notification to a team's existing receiver, as Apple would post it and in order for each key. The
// worker runtime provides retries, ordering, deduplication and dead letters.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
package import MillraceCore
package import MillraceRecords
package import MillraceWorker

/// The worker behind `millrace-forward`: one worker `forward-<receiver>` for each receiver.
package struct Forwarder: NotificationWorker {
  /// The worker's name without its receiver. Each receiver's worker has its own name.
  package static let name = "forward"
  /// All families, unless a receiver's configuration selects some.
  package static let families = NotificationFamily.all

  /// Two posts at a time for each lane, because the receiver may be old and slow. Retries last longer than Apple's.
  package static var policy: WorkerPolicy {
    var policy = WorkerPolicy()
    policy.ordering = .strict
    policy.parallelism = 2
    policy.handlerTimeout = .seconds(15)
    policy.maximumAttempts = 32
    return policy
  }

  /// Whether a worker of this name posts to a receiver: `forward-<receiver>`.
  package static func runs(as name: String) -> Bool { name.hasPrefix("forward-") }

  /// Returns one worker for each receiver, so that a failing receiver does not delay others.
  package static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity] {
    let names = configuration.workerNames.filter(runs(as:))
    guard !names.isEmpty else {
      throw MillraceError(
        .configuration, "no receivers are configured", at: "workers",
        remedy: "add a worker `forward-<receiver>` with `settings: {url: …}`")
    }
    return try names.map { name in
      let receiver: ForwardSettings = try configuration.settings(of: name)
      return WorkerIdentity(
        name: name,
        families: receiver.families.isEmpty ? families : Set(receiver.families.map(NotificationFamily.init)),
        policy: policy)
    }
  }

  private let receiver: ForwardSettings
  private let url: String
  private let headers: [APIHeaders.Field]
  private let secrets: [String: [UInt8]]
  private let http: any HTTPExchange

  /// The settings of one receiver.
  package typealias Settings = ForwardSettings

  /// Creates the worker and reads the receiver's secrets.
  /// - Throws: `MillraceError` that names the file that could not be read.
  package init(_ setup: WorkerSetup) throws {
    try self.init(setup, receiver: try setup.settings())
  }

  init(_ setup: WorkerSetup, receiver: ForwardSettings) throws {
    guard let url = receiver.url else {
      throw MillraceError(
        .configuration, "the receiver has no url", at: "workers.\(setup.name).settings.url",
        remedy: "set the URL to post to")
    }
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

  /// Posts the notification and decides by the receiver's response.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    guard takes(notification) else { return .ignore }
    let secret = notification.bundleId.flatMap { secrets[$0] }
    if receiver.restorePassword, secret == nil, case .v1 = notification.content {
      return .deadLetter(
        "no-shared-secret",
        "no shared secret for \(notification.bundleId ?? "an app that is not named"); set sharedSecretFiles and requeue"
      )
    }
    guard let body = body(of: notification, secret: secret) else { return .ignore }
    let request = ExchangeRequest(method: .post, url: url, headers: fields(of: notification), body: body)
    return await ReceiverReply.of(request, by: http).outcome(
      attempt: context.attempt + 1, refusedAttempts: receiver.refusedAttempts)
  }

  private func takes(_ notification: AppStoreNotification) -> Bool {
    var type = notification.payload?.notificationType?.rawValue
    if case .v1(let body) = notification.content { type = body.notification_type?.rawValue }
    return receiver.takes(type: type, bundleId: notification.bundleId, environment: notification.environment)
  }

  /// Returns the body that Apple posted; nil for records that Apple did not post.
  private func body(of notification: AppStoreNotification, secret: [UInt8]?) -> [UInt8]? {
    if notification.payload != nil { return PostedBody.v2(notification.bytes) }
    guard case .v1 = notification.content else { return nil }
    return PostedBody.v1(notification.bytes, secret: secret, place: notification.passwordPlace)
  }

  private func fields(of notification: AppStoreNotification) -> APIHeaders {
    var fields: [APIHeaders.Field] = [
      .init(name: "Content-Type", value: "application/json"),
      .init(name: "User-Agent", value: "millrace-forward/\(MillraceVersion.current)"),
      // The same in every attempt, so that a receiver can recognize repetitions.
      .init(name: "webhook-id", value: notification.id),
    ]
    if let trace = notification.traceParent { fields.append(.init(name: "traceparent", value: "\(trace)")) }
    return APIHeaders(fields + headers)
  }
}
