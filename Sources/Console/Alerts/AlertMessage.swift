// The post of an alert: a Standard Webhook (standardwebhooks.com) whose `text` Slack and compatible receivers show.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceCore
internal import MillraceTime
internal import MillraceWorker

/// The signed request of an alert.
struct AlertMessage: Sendable {
  let alert: Alert
  /// The prefix of the deployment's topics, which tells deployments apart.
  let deployment: String

  /// The `webhook-id`: the same in every attempt and in every process.
  var id: String {
    let episode = alert.episode
    // There is one end, also for another process that does not know when the condition has grown.
    let (time, word) = alert.isResolved ? (episode.since, "resolved") : (episode.newsAt, "firing")
    return NameBasedUUID.text(of: ["alert", deployment, episode.condition.id, time.rfc3339, word])
  }

  /// - Parameter now: The real time.
  func body(at now: Timestamp) -> [UInt8] {
    let (episode, condition) = (alert.episode, alert.episode.condition)
    var data = condition.json
    data["since"] = .string(episode.since.rfc3339)
    data["runbook"] = .string("docs/runbook.md#\(condition.kind.anchor)")
    if !deployment.isEmpty { data["deployment"] = .string(deployment) }
    data["endedAt"] = episode.endedAt.map { .string($0.rfc3339) }
    let body: JSONObject = [
      "type": .string(alert.isResolved ? "alert.resolved" : "alert.firing"), "timestamp": .string(now.rfc3339),
      "data": .object(data), "text": .string(text),
    ]
    return body.serialized()
  }

  /// The text for people.
  var text: String {
    let (episode, condition) = (alert.episode, alert.episode.condition)
    let name = deployment.isEmpty ? "Millrace" : "Millrace \(deployment)"
    guard let ended = episode.endedAt, alert.isResolved else {
      return Self.escaped("\(name): \(condition.line)\n→ \(condition.remedy)")
    }
    let span = DurationText.text(.seconds(max(0, (ended - episode.since).components.seconds)))
    return Self.escaped("\(name): resolved after \(span): \(condition.line)")
  }

  /// Slack reads `<…>` as a command or a link, and a cause can contain text of an endpoint.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// Returns the request. The receiver's files are read each time, so that they can change.
  /// - Throws: `MillraceError` that names the file that cannot be used.
  func request(_ webhook: AlertSettings.Webhook, at now: Timestamp) throws(MillraceError) -> ExchangeRequest {
    let body = body(at: now)
    var headers: [APIHeaders.Field] = [
      .init(name: "content-type", value: "application/json"),
      .init(name: "user-agent", value: "millrace-console/\(MillraceVersion.current)"),
    ]
    var secrets: [[UInt8]] = []
    let place = "alerts.webhook.secretFile"
    if let file = webhook.secretFile {
      do { secrets = [try SecretFile(file).withBytes { $0 }] } catch { throw error.under(key: place) }
    }
    let signed = try WebhookSignature(secrets: secrets, of: place).headers(
      id: id, time: now.millisecondsSince1970 / 1_000, body: body)
    headers += signed.filter { !$0.value.isEmpty }.map { .init(name: $0.name, value: $0.value) }
    return ExchangeRequest(method: .post, url: try url(webhook), headers: APIHeaders(headers), body: body)
  }

  private func url(_ webhook: AlertSettings.Webhook) throws(MillraceError) -> String {
    if let url = webhook.url { return url }
    let place = "alerts.webhook.urlFile"
    guard let file = webhook.urlFile else {
      throw MillraceError(
        .configuration, "there is no URL to post to", at: "alerts.webhook.url", remedy: "set it, or remove alerts")
    }
    let text: String
    do { text = try SecretFile(file).withBytes { String(decoding: $0, as: UTF8.self) } } catch {
      throw error.under(key: place)
    }
    guard text.hasPrefix("https://") || text.hasPrefix("http://"), !text.contains(where: \.isWhitespace) else {
      throw MillraceError(
        .configuration, "the file has no URL", at: place, remedy: "write one URL that begins with https:// into it")
    }
    return text
  }
}
