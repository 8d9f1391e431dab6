// Version 1 notifications are not signed: what proves them is the app's shared secret, which they carry.

public import AppStore

/// Knows the shared secrets of all configured apps; two may be valid for one app while it is rotated.
public struct SharedSecretCheck: Sendable {
  private struct App: Sendable {
    var settings: AppSettings
    var secrets: [SecretFile]
  }

  private let apps: [App]

  /// What a body's `password` proves.
  public enum Verdict: Sendable, Hashable {
    /// No configured secret, or none of the app that the body names.
    case wrong
    /// A secret of this app, which the body names or which alone has that secret.
    case right(AppSettings)
    /// A secret of the apps with these bundle ids, for none of them: the body names an app that is not configured, or
    /// none while several apps have that secret (a primary shared secret serves all apps of a team).
    case noApp(secretOf: [String])
  }

  /// Reads the secrets of these apps from their files.
  /// - Throws: ``MillraceError`` that names the file.
  public init(_ apps: [AppSettings]) throws(MillraceError) {
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

  /// Judges the passwords a body carries: all of them have to be right, so that a second one proves nothing by itself.
  ///
  /// Every configured secret is compared, in constant time each, so that time tells nothing about which one failed.
  public func judge(_ passwords: [Secret], bundleId: String?) -> Verdict {
    guard !passwords.isEmpty else { return .wrong }
    let matching = apps.filter { app in
      passwords.allSatisfy { password in
        app.secrets.reduce(false) { found, secret in secret.withBytes { password.isEqual(toUTF8: $0) } || found }
      }
    }
    guard !matching.isEmpty else { return .wrong }
    let nobody = Verdict.noApp(secretOf: matching.map(\.settings.bundleId))
    guard let bundleId else {
      guard let only = matching.first, matching.count == 1 else { return nobody }
      return .right(only.settings)
    }
    if let app = matching.first(where: { $0.settings.bundleId == bundleId }) { return .right(app.settings) }
    // The named app is configured with other secrets: a secret of another app does not speak for it.
    return apps.contains { $0.settings.bundleId == bundleId } ? .wrong : nobody
  }

  /// Whether a secret that was right for all the apps in `matched` is one of `bundleId`'s, whichever it was.
  ///
  /// The secret itself is gone. It was one that all of `matched` have, so it is `bundleId`'s only if every such secret
  /// is: sharing one of two would let the other, which may be another app's alone, speak for this app. False where
  /// nothing is left to tell by: no app in `matched`, one that is no longer configured, an app without secrets.
  public func isSecret(of matched: [String], alsoOf bundleId: String) -> Bool {
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

  // Both sides are the operator's own: there is nobody to whom the time of this could tell anything.
  private static func contains(_ secret: SecretFile, in others: [SecretFile]) -> Bool {
    others.contains { other in other.withBytes { bytes in secret.withBytes { $0 == bytes } } }
  }
}
