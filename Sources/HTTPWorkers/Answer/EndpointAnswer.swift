// The table of answers: what each response of an endpoint means. docs/http-workers.md has the same table.

package import AppStore
package import AppStoreServerAPI

/// The meaning of one response.
package enum EndpointAnswer: Sendable, Hashable {
  /// 200 with an outcome.
  case outcome(HandlerOutcome)
  /// 204: nothing to do.
  case nothing
  /// 429 or 503 with `Retry-After`: later, without an attempt.
  case later(at: Timestamp, status: Int)
  /// Another 5xx, 429 without `Retry-After`, a timeout or a broken connection: the attempt failed.
  case failed(Failure, detail: String)
  /// 400, 409, 410, 413, 415 or 422: the endpoint gives up.
  case refused(status: Int, detail: String)
  /// 3xx or another 4xx: the endpoint is misconfigured.
  case misconfigured(status: Int)
  /// An answer that does not fit the protocol.
  case invalid(detail: String)

  /// The kind of a failed attempt. The raw value is the reason of the retry.
  package enum Failure: String, Sendable, Hashable, CaseIterable {
    /// A status 5xx, or 429 without `Retry-After`.
    case serverError = "endpoint-error"
    /// No answer in time.
    case timeout = "endpoint-timeout"
    /// No connection, or a broken one.
    case unreachable = "endpoint-unreachable"
  }

  /// The largest accepted body, in bytes.
  package static let maximumBodyBytes = 1 << 20
  /// The statuses with which an endpoint gives up.
  package static let refusals: Set<Int> = [400, 409, 410, 413, 415, 422]

  /// Classifies a response.
  /// - Parameters:
  ///   - key: The key of the request.
  ///   - now: The real time.
  package static func of(_ answer: ExchangeAnswer, key: String, now: Timestamp) -> EndpointAnswer {
    let status = answer.status
    switch status {
    case 204: return .nothing
    case 200...299: return outcome(answer, key: key)
    case 429, 503:
      guard let value = answer.headers["Retry-After"], let time = RetryAfter.standard(value, now: now) else {
        return .failed(.serverError, detail: "answered \(status) without a usable Retry-After")
      }
      return .later(at: time, status: status)
    case 500...599: return .failed(.serverError, detail: "answered \(status)")
    case _ where refusals.contains(status):
      return .refused(status: status, detail: problem("title", of: answer) ?? "answered \(status)")
    case 300...499: return .misconfigured(status: status)
    default: return .failed(.serverError, detail: "answered \(status)")
    }
  }

  private static func outcome(_ answer: ExchangeAnswer, key: String) -> EndpointAnswer {
    guard answer.status == 200 else {
      return .invalid(detail: "answered \(answer.status); answer 200 with an outcome, or 204")
    }
    guard !answer.isCutOff else {
      return .invalid(detail: "the body is larger than \(maximumBodyBytes) bytes")
    }
    guard answer.isComplete else {
      return .failed(.unreachable, detail: "the connection broke within the body of the answer")
    }
    guard isJSON(answer.headers["Content-Type"]) else {
      return .invalid(detail: "the content type is not application/json")
    }
    do {
      return .outcome(try OutcomeDecoder.decode(answer.body, key: key))
    } catch {
      return .invalid(detail: error.description)
    }
  }

  private static func isJSON(_ contentType: String?) -> Bool {
    let media = contentType?.split(separator: ";").first?.lowercased() ?? ""
    return media.filter { $0 != " " && $0 != "\t" } == "application/json"
  }

  /// Returns a member of a problem document, at most 300 characters of printable text.
  static func problem(_ member: String, of answer: ExchangeAnswer) -> String? {
    guard answer.isComplete, !answer.isCutOff, let value = Self.string(member, in: answer.body) else { return nil }
    let text = String(
      value.unicodeScalars.prefix(300).map { $0.properties.generalCategory == .control ? " " : Character($0) })
    return text.isEmpty ? nil : text
  }

  private static func string(_ name: String, in body: [UInt8]) -> String? {
    do {
      guard case .string(let text)? = try JSONObject(parsing: body)[name] else { return nil }
      return text
    } catch {
      // The problem document is optional, and a refusal without one is still a refusal.
      return nil
    }
  }
}
