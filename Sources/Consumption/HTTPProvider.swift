// Asks the team's own system over HTTP. If the response is not an answer, the worker asks again until the deadline.

package import AppStore
package import AppStoreServerAPI
package import MillraceTime
internal import MillraceCore
internal import MillraceWorker

/// Posts the question and reads the answer. See `docs/consumption.md`.
package struct HTTPProvider: ConsumptionProvider {
  /// `http`.
  package let name = "http"

  private let url: String
  private let signature: WebhookSignature
  private let timeout: Duration
  private let exchange: any HTTPExchange
  private let clock: MillraceClock

  /// Creates a provider.
  /// - Parameters:
  ///   - secrets: The secrets that sign the question; several during a rotation.
  ///   - timeout: The time limit for an answer, on `clock`.
  /// - Throws: `MillraceError` if a secret is malformed.
  package init(
    url: String, secrets: [[UInt8]], timeout: Duration, exchange: any HTTPExchange, clock: MillraceClock
  ) throws {
    self.url = url
    signature = try WebhookSignature(secrets: secrets, of: "workers.consumption.settings.http.secretFiles")
    self.timeout = timeout
    self.exchange = exchange
    self.clock = clock
  }

  /// Posts the question and converts the response to a reply.
  package func answer(_ question: ConsumptionQuestion) async -> ProviderReply {
    let body = question.json.serialized()
    var headers = [
      APIHeaders.Field(name: "content-type", value: "application/json"),
      APIHeaders.Field(name: "user-agent", value: "millrace-consumption/\(MillraceVersion.current)"),
    ]
    // Real time even in a rehearsal, because the receiver compares it with its own clock.
    let seconds = clock.realTime.millisecondsSince1970 / 1_000
    headers += signature.headers(id: question.notificationId, time: seconds, body: body).map {
      APIHeaders.Field(name: $0.name, value: $0.value)
    }
    let request = ExchangeRequest(method: .post, url: url, headers: APIHeaders(headers), body: body)
    let answer: ExchangeAnswer?
    do {
      answer = try await clock.result(within: timeout) { [exchange] in try await exchange.send(request) }
    } catch {
      return .later("provider-unreachable", after: nil)
    }
    guard let answer else { return .later("provider-timeout", after: nil) }
    return reply(to: answer)
  }

  private func reply(to answer: ExchangeAnswer) -> ProviderReply {
    switch answer.status {
    case 200:
      return answer.isComplete ? ProviderReply(answer: answer.body) : .unreadable
    case 204, 404: return .unknown
    case 409: return .noConsent
    case 429: return .later("provider-limit", after: wait(answer))
    case 500...: return .later("provider-error", after: wait(answer))
    default: return .later("provider-refused", after: nil)
    }
  }

  private func wait(_ answer: ExchangeAnswer) -> Duration? {
    guard let text = answer.headers["retry-after"], let until = RetryAfter.parse(text, now: clock.wallTime) else {
      return nil
    }
    return until - clock.wallTime
  }
}

extension ConsumptionQuestion {
  /// The body of the post; its schema is `topics/schemas/consumption-question.schema.json`.
  package var json: JSONObject {
    var json = JSONObject()
    json["notificationUUID"] = .string(notificationId)
    json["bundleId"] = .string(bundleId)
    json["environment"] = .string(environment.rawValue)
    json["transactionId"] = .string(transactionId)
    json["originalTransactionId"] = originalTransactionId.map { .string($0) }
    json["productId"] = productId.map { .string($0) }
    json["productType"] = productType.map { .string($0.rawValue) }
    json["quantity"] = quantity.map { .integer($0) }
    json["purchaseDate"] = purchaseDate.map { .string($0.rfc3339) }
    json["appAccountToken"] = appAccountToken.map { .string($0) }
    json["consumptionRequestReason"] = reason.map { .string($0.rawValue) }
    json["answerBy"] = .string(deadline.planned.rfc3339)
    return json
  }
}
