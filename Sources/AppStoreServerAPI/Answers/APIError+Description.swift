// The error in words, for people at night: what, where, and what to do now.

internal import AppStore
internal import AppStoreSignature

extension APIError: CustomStringConvertible {
  /// Endpoint and environment, what happened, what to do.
  public var description: String {
    let places = (alsoAsked + [environment]).map(\.rawValue).joined(separator: " and ")
    return "\(endpoint.rawValue) in \(places): \(what); \(advice)"
  }

  /// What happened, in one clause.
  public var what: String {
    switch kind {
    case .violation(let violations): violations.map { "\($0)" }.joined(separator: "; ")
    case .credentials(let error): "\(error)"
    case .budget: "no turn in the budget before the deadline"
    case .refused, .rateLimited: answered
    case .unauthorized: "Apple refused the token twice (401)"
    case .transport(let failure): "no answer, \(failure.what)"
    case .deadline: "no answer before the deadline"
    case .cancelled: "cancelled"
    case .undecodable(let what): "\(answered), but \(what)"
    case .unverifiable(let item, let error): "\(item) cannot be believed: \(error)"
    }
  }

  private var answered: String {
    let parts: [String?] = [
      status.map { "Apple answered \($0)" }, code.map { code in code.name.map { "\($0) (\(code))" } ?? "\(code)" },
      message.map { "\"\($0)\"" },
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }

  /// What to do now, in one clause.
  public var advice: String {
    if isUnclear { return "the call may have had its effect: send the same bytes again, or look whether it had" }
    switch kind {
    case .violation: return "change the request, see \(endpoint.documentation)"
    case .credentials: return "correct the app's API settings"
    case .unauthorized(let refusal): return refusal.advice
    case .unverifiable: return "check trust.roots, the base URL and what stands between us and Apple"
    default: break
    }
    let meaning = code?.meaning.map { "\($0); " } ?? ""
    switch errorClass {
    case .retryNow: return "send it again"
    case .retryLater: return retryAt.map { "send it again at \($0) or later" } ?? "send it again in some minutes"
    case .never:
      return meaning + (whereElse ?? "the same call will fail again") + ", see \(endpoint.documentation)"
    case .configuration:
      return code == nil
        ? "this is no answer of the API: check the base URL and what stands between us and Apple"
        : meaning + "correct the app's settings here or in App Store Connect"
    }
  }

  /// The one refusal that another place or a little time may cure.
  private var whereElse: String? {
    guard code == .transactionIdNotFound else { return nil }
    return alsoAsked.isEmpty
      ? "ask the other environment too, and right after a purchase again in some minutes"
      : "check the id and the app, and right after a purchase ask again in some minutes"
  }
}
