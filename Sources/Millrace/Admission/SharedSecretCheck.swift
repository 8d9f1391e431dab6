// Version 1 notifications are not signed: what proves them is the app's shared secret, which they carry.

public import AppStore

/// Knows the shared secrets of all configured apps; two may be valid for one app while it is rotated.
public struct SharedSecretCheck: Sendable {
  private struct App: Sendable {
    var settings: AppSettings
    var secrets: [Secret]
  }

  private let apps: [App]

  /// What a body's `password` proves.
  public enum Verdict: Sendable, Hashable {
    /// No configured secret, or none of the app that the body names.
    case wrong
    /// A configured secret, and the app it is for; nil where the body names an app that is not configured, or none
    /// while several apps have that secret (a primary shared secret serves all apps of a team).
    case right(AppSettings?)
  }

  /// Reads the secrets of these apps from their files.
  /// - Throws: ``MillraceError`` that names the file.
  public init(_ apps: [AppSettings]) throws(MillraceError) {
    var read: [App] = []
    for app in apps {
      var secrets: [Secret] = []
      for file in app.sharedSecretFiles { secrets.append(try Secret(file: file)) }
      read.append(App(settings: app, secrets: secrets))
    }
    self.apps = read
  }

  /// Judges the passwords a body carries: all of them have to be right, so that a second one proves nothing by itself.
  ///
  /// Every configured secret is compared, in constant time each, so that time tells nothing about which one failed.
  public func judge(_ passwords: [AppStore.Secret], bundleId: String?) -> Verdict {
    guard !passwords.isEmpty else { return .wrong }
    let matching = apps.filter { app in
      passwords.allSatisfy { password in
        app.secrets.reduce(false) { found, secret in secret.withBytes { password.isEqual(toUTF8: $0) } || found }
      }
    }
    guard !matching.isEmpty else { return .wrong }
    guard let bundleId else { return .right(matching.count == 1 ? matching.first?.settings : nil) }
    if let app = matching.first(where: { $0.settings.bundleId == bundleId }) { return .right(app.settings) }
    // The named app is configured with other secrets: a secret of another app does not speak for it.
    return apps.contains { $0.settings.bundleId == bundleId } ? .wrong : .right(nil)
  }
}
