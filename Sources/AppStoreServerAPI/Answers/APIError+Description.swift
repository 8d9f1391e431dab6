// Describes an error for operators: the failed call, the reason and the remedy.

internal import AppStore
internal import AppStoreSignature

extension APIError: CustomStringConvertible {
  /// The endpoint and environment, the reason, and the remedy.
  public var description: String {
    let places = (alsoAsked + [environment]).map(\.rawValue).joined(separator: " and ")
    return "\(endpoint.rawValue) in \(places): \(what); \(advice)"
  }

  /// The reason, in one clause.
  public var what: String {
    switch kind {
    case .violation(let violations): violations.map { "\($0)" }.joined(separator: "; ")
    case .credentials(let error): "\(error)"
    case .budget:
      retryAt == nil ? "this process has no share of the request budget" : "no rate-limit slot before the deadline"
    case .refused, .rateLimited: answered
    case .unauthorized: "Apple rejected two tokens in a row (401)"
    case .transport(let failure): "no response: \(failure.what)"
    case .deadline: "no response before the deadline"
    case .cancelled: "cancelled"
    case .undecodable(let what): "\(answered), but \(what)"
    case .unverifiable(let item, let error): "cannot verify \(item): \(error)"
    }
  }

  private var answered: String {
    let parts: [String?] = [
      status.map { "Apple answered \($0)" }, code.map { code in code.name.map { "\($0) (\(code))" } ?? "\(code)" },
      message.map { "\"\($0)\"" },
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }

  /// The remedy, in one clause.
  public var advice: String {
    if isUnclear { return "the call may have taken effect: send the same bytes again, or check whether it did" }
    switch kind {
    case .violation: return "change the request, see \(endpoint.documentation)"
    case .budget where retryAt == nil:
      return "if the worker has lanes, add \(endpoint.rawValue) to `calls` of its entry under workers"
    case .credentials: return "correct the app's API settings"
    case .unauthorized(let refusal): return refusal.advice
    case .unverifiable: return "check trust.roots, the base URL and any proxy in front of Apple"
    default: break
    }
    let meaning = code?.meaning.map { "\($0); " } ?? ""
    switch errorClass {
    case .retryNow: return "send it again"
    case .retryLater: return retryAt.map { "send it again at \($0) or later" } ?? "send it again in a few minutes"
    case .never:
      return meaning + (whereElse ?? "the same call will fail again") + ", see \(endpoint.documentation)"
    case .configuration:
      return code == nil
        ? "the response is not from the API: check the base URL and any proxy in front of Apple"
        : meaning + "correct the app's settings here or in App Store Connect"
    }
  }

  /// The remedy if Apple does not know the transaction: another environment or a later time may help.
  private var whereElse: String? {
    guard code == .transactionIdNotFound else { return nil }
    return alsoAsked.isEmpty
      ? "try the other environment; right after a purchase, retry in a few minutes"
      : "check the id and the app; right after a purchase, retry in a few minutes"
  }
}
