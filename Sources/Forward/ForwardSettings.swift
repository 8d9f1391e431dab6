// Receivers of notifications in the form in which Apple posts them, such as a team's previous endpoint during a
// migration.

package import AppStore
package import MillraceCore

/// The settings of a worker `forward-<receiver>`, which posts to one receiver.
package struct ForwardSettings: WorkerSettings, Hashable {
  /// The URL to which notifications are posted.
  package var url: String?
  /// The apps whose notifications it receives; empty: all.
  package var bundleIds: [String] = []
  /// The environments whose notifications it receives.
  package var environments: [AppStoreEnvironment] = [.production, .sandbox]
  /// The families it receives; empty: all.
  package var families: [String] = []
  /// The notification types it receives, as Apple spells them; empty: all.
  package var types: [String] = []
  /// Whether version 1 bodies get their `password` back.
  package var restorePassword = false
  /// How many times a refused notification (4xx) is posted before it becomes a dead letter.
  package var refusedAttempts = 5
  /// Header fields added to each request.
  package var headers: [String: String] = [:]
  /// Header fields whose values are read from files.
  package var headerFiles: [String: String] = [:]

  /// The defaults.
  package init() {}

  /// Returns whether the receiver receives a notification of a type, app and environment; nil stands for a value that
  /// the notification does not name.
  package func takes(type: String?, bundleId: String?, environment: AppStoreEnvironment?) -> Bool {
    (types.isEmpty || type.map(types.contains) == true)
      && (bundleIds.isEmpty || bundleId.map(bundleIds.contains) == true)
      && environment.map(environments.contains) != false
  }

  /// Returns every header field added to a request. Reads the files.
  /// - Throws: ``MillraceError`` that names the file.
  package func readHeaders() throws(MillraceError) -> [(name: String, value: String)] {
    var fields = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    for (name, file) in headerFiles.sorted(by: { $0.key < $1.key }) {
      do {
        fields.append((name, try SecretFile(file).withBytes { String(decoding: $0, as: UTF8.self) }))
      } catch { throw error.under(key: "headerFiles of a receiver") }
    }
    return fields
  }
}

extension AppSettings {
  /// Returns the app's first shared secret, escaped for a JSON string and without quotation marks; nil if it has none.
  /// - Throws: ``MillraceError`` that names the file.
  func readPassword() throws(MillraceError) -> [UInt8]? {
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
  /// The keys.
  package static let table = SettingTable<ForwardSettings>([
    Setting("url", \.url, .url, "The URL to which notifications are posted. Redirects are not followed. Required."),
    Setting(
      "bundleIds", \.bundleIds, .list(of: .nonEmptyText), "The apps whose notifications it receives. Empty: all."),
    Setting(
      "environments", \.environments, .list(of: .environment), "The environments whose notifications it receives."),
    Setting(
      "families", \.families, .list(of: .nonEmptyText),
      "The families it receives, such as `subscriptions` or `refunds`. Empty: all that Millrace ships."),
    Setting(
      "types", \.types, .list(of: .notificationType),
      "The notification types it receives, as Apple spells them. Empty: all. Other types are counted as done."),
    Setting(
      "restorePassword", \.restorePassword, .boolean,
      "Whether to put the first of the app's `sharedSecretFiles` back into version 1 bodies as `password`."),
    Setting(
      "refusedAttempts", \.refusedAttempts, .integer(1...1_000),
      "How many times a notification answered with 3xx or 4xx is posted before it becomes a dead letter. The answers "
        + "408, 425 and 429 are retried like 5xx, up to the worker's `maximumAttempts`."),
    Setting(
      "headers", \.headers, .textMap(isSecret: { _ in true }),
      "Header fields added to each request. `--print-config` masks their values."),
    Setting(
      "headerFiles", \.headerFiles, .textMap(),
      "Header fields whose values are read from files: `{Authorization: /run/secrets/receiver}`."),
  ])
}

extension ForwardSettings {
  /// The rules between the keys.
  package func problems(in configuration: MillraceConfiguration) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    func check(_ holds: Bool, _ what: String, _ key: String, _ remedy: String) {
      if !holds { problems.append(.init(what, at: key, remedy: remedy)) }
    }
    check(url != nil, "the receiver has no url", "url", "set the URL to post to")
    let hasPassword = url.map { MillraceConfiguration.authority(of: $0).contains("@") } ?? false
    check(!hasPassword, "the URL contains a password", "url", "move it to headerFiles")
    check(!environments.isEmpty, "the receiver has no environments", "environments", "list at least one")
    let apps = configuration.apps
    for objection in families.compactMap(configuration.objection(toFamily:)) {
      check(false, objection.what, "families", objection.remedy)
    }
    for bundleId in bundleIds where !apps.contains(where: { $0.bundleId == bundleId }) {
      check(false, "the app \(bundleId) is not configured", "bundleIds", "add it to apps, or correct it")
    }
    let own = apps.filter { bundleIds.isEmpty || bundleIds.contains($0.bundleId) }
    check(
      !restorePassword || own.contains { !$0.sharedSecretFiles.isEmpty },
      "no app of this receiver has a shared secret", "restorePassword", "set apps[].sharedSecretFiles, or unset it")
    for name in headers.keys.sorted() where headerFiles[name] != nil {
      check(false, "`\(name)` is also set in headers", "headerFiles", "keep one of them")
    }
    for name in headers.keys.sorted() + headerFiles.keys.sorted() {
      check(!Self.ownHeaders.contains(name.lowercased()), "`\(name)` is set by Millrace", "headers", "remove it")
    }
    return problems
  }
}

extension ForwardSettings {
  /// The header fields that Millrace sets itself, in lower case.
  static let ownHeaders: Set<String> = [
    "content-type", "content-length", "host", "transfer-encoding", "connection", "traceparent", "user-agent",
    "webhook-id",
  ]
}
