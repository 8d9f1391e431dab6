// The section `privacy`.

/// `privacy`: what workers need to erase a customer.
package struct PrivacySettings: Sendable, Hashable {
  /// The file with the secret of the marks that erased customers leave.
  package var keyFile: String?
  /// Whether a notification that Apple signed after the erasure is handled.
  package var acceptsNewNotifications = true

  /// The defaults.
  package init() {}
}

extension MillraceConfiguration {
  static let privacyKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "privacy.keyFile", \.privacy.keyFile, .path,
      "File with a secret of at least 32 bytes, the same for all workers and for `millrace`. Needed to erase customers: "
        + "an erased customer leaves a mark that only this secret can compute. Do not change or lose it."),
    Setting(
      "privacy.acceptsNewNotifications", \.privacy.acceptsNewNotifications, .boolean,
      "Whether workers handle a notification about an erased customer that Apple signed after the erasure."),
  ]
}
