internal import MillraceTime

/// `workers.<name>.handler`: the HTTP endpoint that decides for a worker.
package struct HandlerSettings: Sendable, Hashable {
  /// How much of a notification the endpoint receives.
  package enum Payload: String, Sendable, Hashable, CaseIterable {
    /// The decoded payloads and the signed token.
    case full
    /// The decoded payloads.
    case decoded
    /// Identifiers, type, app, environment and dates.
    case minimal
  }

  /// The URL to which requests are posted.
  package var url: String?
  /// The file with the secret of the signature.
  package var secretFile: String?
  /// The file with the previous secret, during a rotation.
  package var previousSecretFile: String?
  /// The time limit of one request; nil: ``standardTimeout``.
  package var timeout: Duration?
  /// How much of a notification the endpoint receives; nil: `decoded`.
  package var payload: Payload?
  /// Whether the endpoint has no effect if a request is a dry run; nil: false.
  package var dryRuns: Bool?
  /// The trusted certificates; nil: the system's certificates.
  package var certificateAuthorityFile: String?
  /// The client certificate; nil: none.
  package var certificateFile: String?
  /// The private key of the client certificate.
  package var keyFile: String?

  /// The time limit of one request if the configuration sets none.
  package static let standardTimeout = Duration.seconds(30)

  /// No endpoint.
  package init() {}

  /// The time limit that applies.
  package var effectiveTimeout: Duration { timeout ?? Self.standardTimeout }
  /// The amount of content that applies.
  package var effectivePayload: Payload { payload ?? .decoded }

  /// The files whose content a request depends on.
  package var files: [String] {
    [secretFile, previousSecretFile, certificateAuthorityFile, certificateFile, keyFile].compactMap(\.self)
  }
}

extension WorkerEntry {
  /// Whether an HTTP endpoint decides for this worker.
  package var isHTTPWorker: Bool { handler != HandlerSettings() }

  /// How much longer a run of an HTTP worker's handler may take than its request, if `handlerTimeout` is unset: the time
  /// for a call to Apple, and for a circuit that closes soon.
  package static let handlerReserve = Duration.seconds(30)

  /// Whether a worker of this name ships with Millrace.
  static func ships(_ name: String) -> Bool {
    KnownNames.events[name] != nil || name.hasPrefix("forward-") || name.hasPrefix(webhookPrefix)
  }

  static let handlerKeys: [Setting<WorkerEntry>] = [
    Setting(
      "families", \.families, .list(of: .nonEmptyText),
      "Only with `handler`: the notification families that the worker reads, such as `subscriptions`."),
    Setting(
      "handler.url", \.handler.url, .url,
      "The HTTP endpoint that decides for the worker, which `millrace-worker` then runs. Redirects are not followed."),
    Setting(
      "handler.secretFile", \.handler.secretFile, .path,
      "File with the secret that signs the requests: `whsec_` and Base64, or any text. Read again when it changes."),
    Setting(
      "handler.previousSecretFile", \.handler.previousSecretFile, .path,
      "File with a second secret during a rotation: each request then has both signatures."),
    Setting(
      "handler.timeout", \.handler.timeout, .duration(.milliseconds(10) ... .seconds(3_600)),
      "How long one request may take, in real time. Unset: 30s."
    ).named(["handler", "requestTimeout"]),
    Setting(
      "handler.payload", \.handler.payload, .choice,
      "`full`: the decoded payloads and Apple's signed token. `decoded` (the default): no token. `minimal`: identifiers, "
        + "type, app, environment and dates."),
    Setting(
      "handler.dryRuns", \.handler.dryRuns, .boolean,
      "Whether the endpoint decides without an effect if a request has the header `millrace-dry-run`, and answers with "
        + "it. Then `millrace replay --reapply --dry-run` works. `millrace handler check` tests it."),
    Setting(
      "handler.certificateAuthorityFile", \.handler.certificateAuthorityFile, .path,
      "PEM file of the certificates that the endpoint's certificate must lead to. Unset: the system's."),
    Setting(
      "handler.certificateFile", \.handler.certificateFile, .path,
      "PEM file of the client certificate chain, leaf first (mutual TLS)."),
    Setting("handler.keyFile", \.handler.keyFile, .path, "PEM file of the client certificate's private key."),
  ]
}

extension MillraceConfiguration {
  /// Returns the rules between keys of an HTTP worker that the configuration violates.
  func brokenHandlerRelations(
    _ name: String, _ entry: WorkerEntry,
    _ problem: (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem
  ) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    func check(_ holds: Bool, _ what: String, _ key: String, _ remedy: String) {
      if !holds { problems.append(problem(what, "workers.\(name).\(key)", remedy)) }
    }
    guard entry.isHTTPWorker else {
      check(
        entry.families == nil, "the worker has families but no handler", "families", "set handler.url, or remove it")
      return problems
    }
    let handler = entry.handler
    check(
      !WorkerEntry.ships(name), "the worker \(name) ships with Millrace and has no handler", "handler",
      "give the HTTP worker another name")
    check(
      entry.families?.isEmpty == false, "the handler has no families", "families", "list at least one")
    for objection in (entry.families ?? []).compactMap(objection(toFamily:)) {
      check(false, objection.what, "families", objection.remedy)
    }
    check(handler.url != nil, "the handler has no url", "handler.url", "set the URL of the endpoint")
    check(
      handler.secretFile != nil, "the handler has no secret", "handler.secretFile",
      "set the file with the secret that signs the requests")
    let url = handler.url ?? ""
    check(
      !Self.authority(of: url).contains("@"), "the URL contains a password", "handler.url",
      "remove it: the signature authenticates the requests")
    check(
      (handler.certificateFile == nil) == (handler.keyFile == nil), "a client certificate needs a file and a key",
      handler.keyFile == nil ? "handler.keyFile" : "handler.certificateFile", "set it, or unset the other")
    let hasTLS = handler.certificateAuthorityFile != nil || handler.certificateFile != nil
    check(
      !hasTLS || !url.hasPrefix("http://"), "certificates have no effect on a URL with http://", "handler.url",
      "use https://, or remove the certificates")
    check(
      entry.handlerTimeout.map { $0 >= handler.effectiveTimeout + .seconds(1) } ?? true,
      "handlerTimeout leaves no time for a request of \(DurationText.text(handler.effectiveTimeout))",
      "handlerTimeout", "set it to more than handler.timeout, or remove it")
    check(
      entry.settings == UnreadSettings(), "an HTTP worker has no settings of its own", "settings", "remove it")
    return problems
  }
}
