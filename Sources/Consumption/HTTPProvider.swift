// Asks the team's own system. Its answer, not its availability, decides: whatever is not an answer is asked again until
// the deadline leaves no more time.

public import AppStore
public import AppStoreServerAPI
public import Clocks
internal import Millrace

/// Posts the question and reads the answer. See `docs/consumption.md`.
public struct HTTPProvider: ConsumptionProvider {
  /// Names it.
  public let name = "http"

  private let url: String
  private let signature: WebhookSignature
  private let timeout: Duration
  private let exchange: any HTTPExchange
  private let clock: MillraceClock

  /// - Parameters:
  ///   - secrets: what signs the question; several during a rotation.
  ///   - timeout: how long an answer may take, on `clock`.
  /// - Throws: `MillraceError` for a secret that is none.
  public init(
    url: String, secrets: [[UInt8]], timeout: Duration, exchange: any HTTPExchange, clock: MillraceClock
  ) throws {
    self.url = url
    signature = try WebhookSignature(secrets: secrets)
    self.timeout = timeout
    self.exchange = exchange
    self.clock = clock
  }

  /// Asks, and says what the status means.
  public func answer(_ question: ConsumptionQuestion) async -> ProviderReply {
    let body = question.json.serialized()
    var headers = [
      APIHeaders.Field(name: "content-type", value: "application/json"),
      APIHeaders.Field(name: "user-agent", value: "millrace-consumption/\(MillraceVersion.current)"),
    ]
    let seconds = clock.wallTime.millisecondsSince1970 / 1_000
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
  /// What is posted: `topics/schemas/consumption-question.schema.json`.
  public var json: JSONObject {
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
