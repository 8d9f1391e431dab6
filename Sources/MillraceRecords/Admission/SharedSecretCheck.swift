// Version 1 notifications are not signed. They contain the app's shared secret, which authenticates them.

package import AppStore
package import MillraceCore

/// Checks the shared secrets of all configured apps. An app may have two valid secrets during a rotation.
package struct SharedSecretCheck: Sendable {
  private struct App: Sendable {
    var settings: AppSettings
    var secrets: [SecretFile]
  }

  private let apps: [App]

  /// The result of checking a body's `password`.
  package enum PasswordMatch: Sendable, Hashable {
    /// The password is not a configured secret, or not a secret of the app that the body names.
    case wrong
    /// The password is a secret of this app. The body names the app, or no other app has the secret.
    case right(AppSettings)
    /// The password is a secret of the apps with these bundle ids, but the body's app is unknown. The body names an app
    /// that is not configured, or no app while several have the secret (a primary shared secret serves a whole team).
    case noApp(secretOf: [String])
  }

  /// Reads the secrets of these apps from their files.
  /// - Throws: ``MillraceError`` that names the file.
  package init(_ apps: [AppSettings]) throws(MillraceError) {
    var read: [App] = []
    for app in apps {
      var secrets: [SecretFile] = []
      for file in app.sharedSecretFiles {
        do { secrets.append(try SecretFile(file)) } catch {
          throw error.under(key: "sharedSecretFiles of \(app.bundleId)")
        }
      }
      read.append(App(settings: app, secrets: secrets))
    }
    self.apps = read
  }

  /// Whether no app has a secret, so that no body can be valid.
  package var isEmpty: Bool { apps.allSatisfy(\.secrets.isEmpty) }

  /// Checks the passwords of a body. All of them must be valid.
  ///
  /// Every configured secret is compared in constant time, so that timing does not reveal which comparison failed.
  package func judge(_ passwords: [Secret], bundleId: String?) -> PasswordMatch {
    guard !passwords.isEmpty else { return .wrong }
    let matching = apps.filter { app in
      passwords.allSatisfy { password in
        app.secrets.reduce(false) { found, secret in secret.withBytes { password.isEqual(toUTF8: $0) } || found }
      }
    }
    guard !matching.isEmpty else { return .wrong }
    let nobody = PasswordMatch.noApp(secretOf: matching.map(\.settings.bundleId))
    guard let bundleId else {
      guard let only = matching.first, matching.count == 1 else { return nobody }
      return .right(only.settings)
    }
    if let app = matching.first(where: { $0.settings.bundleId == bundleId }) { return .right(app.settings) }
    // The named app has other secrets, and the secret of another app does not authenticate it.
    return apps.contains { $0.settings.bundleId == bundleId } ? .wrong : nobody
  }

  /// Returns whether a secret that was valid for all apps in `matched` is certainly a secret of `bundleId`.
  ///
  /// The secret itself was not kept. All apps in `matched` have it, so it belongs to `bundleId` only if every secret
  /// that they share does. Otherwise another app's secret could authenticate this app. Returns false if the answer is
  /// unknown: `matched` is empty, one of its apps is no longer configured, or an app has no secrets.
  package func isSecret(of matched: [String], alsoOf bundleId: String) -> Bool {
    let own = secrets(of: bundleId)
    if own.isEmpty { return false }
    if matched.contains(bundleId) { return true }
    let theirs = matched.map(secrets(of:))
    let candidates = (theirs.first ?? []).filter { secret in theirs.allSatisfy { Self.contains(secret, in: $0) } }
    return !candidates.isEmpty && candidates.allSatisfy { Self.contains($0, in: own) }
  }

  private func secrets(of bundleId: String) -> [SecretFile] {
    apps.first { $0.settings.bundleId == bundleId }?.secrets ?? []
  }

  // Both secrets are the operator's, so this comparison does not need constant time.
  private static func contains(_ secret: SecretFile, in others: [SecretFile]) -> Bool {
    others.contains { other in other.withBytes { bytes in secret.withBytes { $0 == bytes } } }
  }
}
