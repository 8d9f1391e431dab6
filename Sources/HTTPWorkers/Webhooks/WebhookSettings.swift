// The settings of a webhook: `webhooks.<name>` in the configuration, which is short for
// `workers.webhook-<name>.settings`.

package import AppStore
package import MillraceCore
package import MillraceWorker

/// The settings of a worker `webhook-<name>`, which posts events to one URL.
package struct WebhookSettings: WorkerSettings, Hashable {
  /// The URL to which events are posted.
  package var url: String?
  /// The file with the secret of the signature.
  package var secretFile: String?
  /// The file with the previous secret, during a rotation.
  package var previousSecretFile: String?
  /// The events, by name or by a prefix that ends in `*`; empty: all.
  package var events: [String] = []
  /// The workers whose events it receives; empty: all of the configuration that publish some.
  package var workers: [String] = []
  /// The apps whose events it receives; empty: all.
  package var bundleIds: [String] = []
  /// The environments whose events it receives.
  package var environments: [AppStoreEnvironment] = [.production, .sandbox]
  /// The time limit of one post.
  package var timeout = Duration.seconds(15)
  /// How many times a refused event is posted before it becomes a dead letter.
  package var refusedAttempts = 5
  /// The trusted certificates; nil: the system's certificates.
  package var certificateAuthorityFile: String?
  /// The client certificate; nil: none.
  package var certificateFile: String?
  /// The private key of the client certificate.
  package var keyFile: String?

  /// The defaults.
  package init() {}

  /// Whether the webhook receives events of a name.
  package func takes(named name: String) -> Bool {
    events.isEmpty
      || events.contains { pattern in
        pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
      }
  }

  /// The names of the events of its workers; nil if one of them does not ship with Millrace, and may publish any.
  private func knownEvents(in configuration: MillraceConfiguration) -> [String]? {
    var known: [String] = []
    for worker in workers.isEmpty ? WebhookWorker.publishers(in: configuration) : workers {
      guard let events = KnownNames.events[worker] else { return nil }
      known += events
    }
    return known.isEmpty ? nil : known + [KnownNames.erasure]
  }

  /// The entries of ``events`` that no event of its workers has.
  private func unknownEvents(in configuration: MillraceConfiguration) -> [String] {
    guard let known = knownEvents(in: configuration) else { return [] }
    return events.filter { pattern in
      var single = WebhookSettings()
      single.events = [pattern]
      return !known.contains(where: single.takes(named:))
    }
  }

  /// Whether the webhook receives an event. An event that names no app, such as `customer.erased`, is not filtered by
  /// app or environment.
  package func takes(_ event: PublishedEvent) -> Bool {
    guard takes(named: event.name) else { return false }
    guard case .object(var data) = event.data else { return true }
    // The events of the consumption worker describe the purchase in a member of its own.
    if case .object(let purchase)? = data["purchase"], data["bundleId"] == nil { data = purchase }
    if case .string(let app)? = data["bundleId"], !bundleIds.isEmpty, !bundleIds.contains(app) { return false }
    guard case .string(let environment)? = data["environment"] else { return true }
    return environments.contains(AppStoreEnvironment(rawValue: environment))
  }

  /// The endpoint.
  var handler: HandlerSettings {
    var handler = HandlerSettings()
    handler.url = url
    handler.secretFile = secretFile
    handler.previousSecretFile = previousSecretFile
    handler.timeout = timeout
    handler.certificateAuthorityFile = certificateAuthorityFile
    handler.certificateFile = certificateFile
    handler.keyFile = keyFile
    return handler
  }
}

extension WebhookSettings {
  /// The keys.
  package static let table = SettingTable<WebhookSettings>([
    Setting("url", \.url, .url, "The URL to which events are posted. Redirects are not followed. Required."),
    Setting(
      "secretFile", \.secretFile, .path,
      "File with the secret that signs the posts: `whsec_` and Base64, or any text. Read again when it changes. "
        + "Required."),
    Setting(
      "previousSecretFile", \.previousSecretFile, .path,
      "File with a second secret during a rotation: each post then has both signatures."),
    Setting(
      "events", \.events, .list(of: .nonEmptyText),
      "The events it receives, such as `subscription.expired`; `subscription.*` stands for all that begin so. Empty: "
        + "all."),
    Setting(
      "workers", \.workers, .list(of: .nonEmptyText),
      "The workers whose events it receives. Empty: every worker under `workers` except `forward-*` and `webhook-*`."),
    Setting(
      "bundleIds", \.bundleIds, .list(of: .nonEmptyText),
      "The apps whose events it receives. Empty: all. Events that name no app are always posted."),
    Setting(
      "environments", \.environments, .list(of: .environment),
      "The environments whose events it receives. Events that name none are always posted."),
    Setting(
      "timeout", \.timeout, .duration(.milliseconds(10) ... .seconds(3_600)),
      "How long one post may take, in real time."),
    Setting(
      "refusedAttempts", \.refusedAttempts, .integer(1...1_000),
      "How many times an event answered with 3xx or 4xx is posted before it becomes a dead letter. The answers 408, "
        + "410, 425 and 429 do not count as refused."),
    Setting(
      "certificateAuthorityFile", \.certificateAuthorityFile, .path,
      "PEM file of the certificates that the receiver's certificate must lead to. Unset: the system's."),
    Setting(
      "certificateFile", \.certificateFile, .path,
      "PEM file of the client certificate chain, leaf first (mutual TLS)."),
    Setting("keyFile", \.keyFile, .path, "PEM file of the client certificate's private key."),
  ])

  /// The rules between the keys.
  package func problems(in configuration: MillraceConfiguration) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    func check(_ holds: Bool, _ what: String, _ key: String, _ remedy: String) {
      if !holds { problems.append(.init(what, at: key, remedy: remedy)) }
    }
    check(url != nil, "the webhook has no url", "url", "set the URL to post to")
    check(
      secretFile != nil, "the webhook has no secret", "secretFile", "set the file with the secret that signs the posts")
    let url = url ?? ""
    check(
      !MillraceConfiguration.authority(of: url).contains("@"), "the URL contains a password", "url",
      "remove it: the signature authenticates the posts")
    check(
      (certificateFile == nil) == (keyFile == nil), "a client certificate needs a file and a key",
      keyFile == nil ? "keyFile" : "certificateFile", "set it, or unset the other")
    check(
      (certificateAuthorityFile == nil && certificateFile == nil) || !url.hasPrefix("http://"),
      "certificates have no effect on a URL with http://", "url", "use https://, or remove the certificates")
    check(!environments.isEmpty, "the webhook has no environments", "environments", "list at least one")
    for pattern in events where pattern.dropLast().contains("*") {
      check(false, "`\(pattern)` has a `*` before its end", "events", "write a name, or a prefix and `*`")
    }
    for bundleId in bundleIds where !configuration.apps.contains(where: { $0.bundleId == bundleId }) {
      check(false, "the app \(bundleId) is not configured", "bundleIds", "add it to apps, or correct it")
    }
    for pattern in unknownEvents(in: configuration) {
      check(
        false, "no worker of this webhook publishes `\(pattern)`", "events",
        NearestName.remedy(for: pattern, among: knownEvents(in: configuration) ?? []))
    }
    let publishers = WebhookWorker.publishers(in: configuration)
    check(!publishers.isEmpty, "no worker publishes events", "workers", "add a worker, such as `subscriptions: {}`")
    for worker in workers where !publishers.contains(worker) {
      check(
        false, "there is no worker `\(worker)` that publishes events", "workers",
        "choose from " + publishers.joined(separator: ", "))
    }
    return problems
  }
}
