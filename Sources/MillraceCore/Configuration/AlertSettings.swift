/// `alerts`: what is posted to a webhook if the deployment needs attention.
package struct AlertSettings: Sendable, Hashable {
  /// `alerts.webhook`: the receiver.
  package struct Webhook: Sendable, Hashable {
    /// The URL; nil if ``urlFile`` names it, or nothing is posted.
    package var url: String?
    /// The file with the URL, if the URL is a secret.
    package var urlFile: String?
    /// The file with the secret of the signature; nil: posts have no signature.
    package var secretFile: String?
    /// The trusted certificates; nil: the system's certificates.
    package var certificateAuthorityFile: String?
    /// The time limit of one post.
    package var timeout = Duration.seconds(10)

    /// The defaults.
    package init() {}

    /// Whether alerts are posted.
    package var isConfigured: Bool { url != nil || urlFile != nil }
  }

  /// The receiver.
  package var webhook = Webhook()
  /// How long a condition has to hold before it is posted, and to be over before its end is.
  package var after = Duration.seconds(30)
  /// The age of a worker's oldest unfinished record above which the worker is behind.
  package var lag = Duration.seconds(300)
  /// The time before the deadline of a consumption request at which it is near.
  package var deadline = Duration.seconds(3 * 3_600)

  /// The defaults.
  package init() {}
}

extension MillraceConfiguration {
  static let alertKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "alerts.webhook.url", \.alerts.webhook.url, .url,
      "The URL to which `millrace-console` posts alerts. Unset: none are posted. Redirects are not followed."),
    Setting(
      "alerts.webhook.urlFile", \.alerts.webhook.urlFile, .path,
      "File with the URL instead, for a receiver whose URL is a secret, such as Slack's."),
    Setting(
      "alerts.webhook.secretFile", \.alerts.webhook.secretFile, .path,
      "File with the secret that signs the posts: `whsec_` and Base64, or any text. Unset: posts are not signed."),
    Setting(
      "alerts.webhook.certificateAuthorityFile", \.alerts.webhook.certificateAuthorityFile, .path,
      "PEM file of the certificates that the receiver's certificate must lead to. Unset: the system's."),
    Setting(
      "alerts.webhook.timeout", \.alerts.webhook.timeout, .duration(.milliseconds(10) ... .seconds(300)),
      "How long one post may take."),
    Setting(
      "alerts.after", \.alerts.after, .duration(.zero ... .seconds(86_400)),
      "How long a condition has to hold before it is posted, and to be over before its end is posted."),
    Setting(
      "alerts.lag", \.alerts.lag, .duration(.seconds(1) ... .seconds(30 * 86_400)),
      "The age of a worker's oldest unfinished record above which the worker is behind."),
    Setting(
      "alerts.deadline", \.alerts.deadline, .duration(.seconds(1) ... .seconds(12 * 3_600)),
      "The time before the deadline of a consumption request at which it is near."),
  ]

  /// Returns the rules between keys of `alerts` that the configuration violates.
  func brokenAlertRelations(
    _ problem: (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem
  ) -> [MillraceError.Problem] {
    let webhook = alerts.webhook
    var problems: [MillraceError.Problem] = []
    if webhook.url != nil, webhook.urlFile != nil {
      problems.append(problem("alerts.webhook.url is set, too", "alerts.webhook.urlFile", "keep one of them"))
    }
    if let url = webhook.url, Self.authority(of: url).contains("@") {
      problems.append(
        problem("the URL contains a password", "alerts.webhook.url", "move it to a file and set alerts.webhook.urlFile")
      )
    }
    return problems
  }
}
