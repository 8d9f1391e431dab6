// Receivers that get every notification as Apple would have posted it: the one a team had before, while it moves.

public import AppStore

/// `forward[]`: one receiver of `millrace-forward`, which runs as a worker of its own for each, `forward-<name>`.
public struct ForwardSettings: Sendable, Hashable {
  /// What the worker's name ends with.
  public var name: String?
  /// Where notifications are posted to.
  public var url: String?
  /// The apps whose notifications it gets; empty: every app's.
  public var bundleIds: [String] = []
  /// The environments whose notifications it gets.
  public var environments: [AppStoreEnvironment] = [.production, .sandbox]
  /// The families it gets; empty: every one.
  public var families: [String] = []
  /// The notification types it gets, as Apple writes them; empty: every one.
  public var types: [String] = []
  /// Whether version 1 bodies get their `password` back.
  public var restorePassword = false
  /// Tries of a notification that is refused (4xx) before it becomes a dead letter.
  public var refusedAttempts = 5
  /// Header fields that are sent along.
  public var headers: [String: String] = [:]
  /// Header fields whose values are read from files.
  public var headerFiles: [String: String] = [:]

  /// The defaults.
  public init() {}

  /// The worker that posts to a receiver of this name.
  public static func workerName(_ name: String) -> String { "forward-\(name)" }

  /// Whether the receiver gets a notification of that type, app and environment; nil where it does not say.
  public func takes(type: String?, bundleId: String?, environment: AppStoreEnvironment?) -> Bool {
    (types.isEmpty || type.map(types.contains) == true)
      && (bundleIds.isEmpty || bundleId.map(bundleIds.contains) == true)
      && environment.map(environments.contains) != false
  }

  /// Every header field that is sent along; files are read now.
  /// - Throws: ``MillraceError`` that names the file.
  package func readHeaders() throws(MillraceError) -> [(name: String, value: String)] {
    var fields = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    for (name, file) in headerFiles.sorted(by: { $0.key < $1.key }) {
      do {
        fields.append((name, try SecretFile(file).withBytes { String(decoding: $0, as: UTF8.self) }))
      } catch { throw error.under(key: "forward[].headerFiles") }
    }
    return fields
  }
}

extension AppSettings {
  /// The first of the shared secrets, as it stands between the quotation marks of a JSON string; nil where the app has
  /// none.
  /// - Throws: ``MillraceError`` that names the file.
  package func readPassword() throws(MillraceError) -> [UInt8]? {
    guard let file = sharedSecretFiles.first else { return nil }
    let secret: SecretFile
    do { secret = try SecretFile(file) } catch { throw error.under(key: "sharedSecretFiles of \(bundleId)") }
    return secret.withBytes { bytes in
      let text = JSON.string(String(decoding: bytes, as: UTF8.self)).serialized()
      return Array(text.dropFirst().dropLast())
    }
  }
}

extension ForwardSettings {
  static let table = SettingTable<ForwardSettings>(settings: [
    Setting(
      "name", \.name, .workerName,
      "Names the receiver; its worker is `forward-<name>`, with a group, retries and dead letters of its own. Required."
    ),
    Setting("url", \.url, .url, "Where notifications are posted to. Redirects are not followed. Required."),
    Setting("bundleIds", \.bundleIds, .list(of: .nonEmptyText), "The apps it gets notifications of; empty: all."),
    Setting("environments", \.environments, .list(of: .environment), "The environments it gets notifications of."),
    Setting(
      "families", \.families, .list(of: .nonEmptyText),
      "The families it gets, such as `subscriptions` or `refunds`; empty: all that Millrace ships."),
    Setting(
      "types", \.types, .list(of: .nonEmptyText),
      "The notification types it gets, as Apple writes them; empty: all. Others are counted as done."),
    Setting(
      "restorePassword", \.restorePassword, .boolean,
      "Puts the first of the app's `sharedSecretFiles` back into version 1 bodies as `password`."),
    Setting(
      "refusedAttempts", \.refusedAttempts, .integer(1...1_000),
      "Tries of a notification that is answered 3xx or 4xx before it becomes a dead letter; 408, 425 and 429 are retried "
        + "like 5xx, up to the worker's `maximumAttempts`."),
    Setting(
      "headers", \.headers, .textMap(isSecret: { $0.lowercased() == "authorization" || $0.lowercased() == "cookie" }),
      "Header fields that are sent along."),
    Setting(
      "headerFiles", \.headerFiles, .textMap(),
      "Header fields whose values stand in files: `{Authorization: /run/secrets/receiver}`."),
  ])
}

extension MillraceConfiguration {
  /// The relations of `forward[]` that do not hold.
  func brokenForwardRelations(
    _ problem: (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem
  ) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    var seen: Set<String> = []
    for (index, receiver) in forward.enumerated() {
      let key = "forward[\(index)]"
      func check(_ holds: Bool, _ what: String, _ member: String, _ remedy: String) {
        if !holds { problems.append(problem(what, "\(key).\(member)", remedy)) }
      }
      if let name = receiver.name {
        check(seen.insert(name).inserted, "two receivers called \(name)", "name", "rename one")
        check(
          WorkerTopics.isName(ForwardSettings.workerName(name)), "the name of its worker is too long", "name",
          "use at most 32 characters")
      } else {
        check(false, "a receiver without name", "name", "name it; its topics are called by it")
      }
      check(receiver.url != nil, "a receiver without url", "url", "say where to post to")
      let hasPassword = receiver.url.map { Self.authority(of: $0).contains("@") } ?? false
      check(!hasPassword, "a URL with a password in it", "url", "use headerFiles")
      check(!receiver.environments.isEmpty, "a receiver without environments", "environments", "list at least one")
      for bundleId in receiver.bundleIds where !apps.contains(where: { $0.bundleId == bundleId }) {
        check(false, "the app \(bundleId) is not configured", "bundleIds", "add it to apps, or correct it")
      }
      let own = apps.filter { receiver.bundleIds.isEmpty || receiver.bundleIds.contains($0.bundleId) }
      check(
        !receiver.restorePassword || own.contains { !$0.sharedSecretFiles.isEmpty },
        "no app of this receiver has a shared secret", "restorePassword", "set apps[].sharedSecretFiles, or unset it")
      for name in receiver.headers.keys.sorted() where receiver.headerFiles[name] != nil {
        check(false, "`\(name)` stands in headers too", "headerFiles", "keep one of them")
      }
      for name in receiver.headers.keys.sorted() + receiver.headerFiles.keys.sorted() {
        check(
          !ForwardSettings.ownHeaders.contains(name.lowercased()), "`\(name)` is set by Millrace", "headers",
          "remove it")
      }
    }
    return problems
  }
}

extension ForwardSettings {
  /// What no configuration may set, in lower case.
  static let ownHeaders: Set<String> = [
    "content-type", "content-length", "host", "transfer-encoding", "connection", "traceparent", "user-agent",
    "webhook-id",
  ]
}
