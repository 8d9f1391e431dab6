// What Apple's answer to one extension means, and how it is kept in the ledger. An answer is final: what is not (no turn,
// no answer, an error that passes) stays an error, and the notification is tried again.

public import AppStore
public import AppStoreServerAPI

/// The end of one extension.
public enum ExtensionAnswer: Sendable, Hashable {
  /// The renewal date moved; to this date, where it is known.
  case applied(effectiveDate: Timestamp?)
  /// It did not, and will not.
  case refused(Refusal)
  /// Nobody can tell, and nothing will be sent any more.
  case unclear(String)

  /// Apple's refusal.
  public struct Refusal: Sendable, Hashable {
    /// Why, as a stable word.
    public var reason: Reason
    /// Apple's error code.
    public var code: Int64?
    /// Apple's words.
    public var message: String?

    /// A refusal.
    public init(_ reason: Reason, code: Int64?, message: String?) {
      self.reason = reason
      self.code = code
      self.message = message
    }
  }

  /// Why a subscription was not extended. The raw value is part of events.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// In a free offer, in billing retry, expired, or never paid for.
    case ineligible
    /// Extended twice in 365 days already.
    case maxExtensions = "max-extensions"
    /// Shared by a family member: the purchaser's is extended instead.
    case familyShared = "family-shared"
    /// Apple knows no such subscription.
    case notFound = "not-found"
    /// Apple says that it did not succeed, without an error.
    case unsuccessful
    /// Any other refusal for good.
    case rejected
  }
}

extension ExtensionAnswer {
  /// What a success says. Apple documents the field `success`, and not when it is false.
  public init(_ response: ExtendRenewalDateResponse) {
    self =
      response.success == true
      ? .applied(effectiveDate: response.effectiveDate)
      : .refused(Refusal(.unsuccessful, code: nil, message: nil))
  }

  /// What an error says for good; nil where trying again may help, a person has to do something, or nothing is known.
  ///
  /// Only an error code of Apple's is final: a bare status may be a gateway's.
  public init?(_ error: APIError) {
    guard case .refused = error.kind, error.errorClass == .never, !error.isUnclear, let code = error.code else {
      return nil
    }
    self = .refused(Refusal(Self.reason(code), code: Int64(code.rawValue), message: error.message))
  }

  private static func reason(_ code: APIErrorCode) -> Reason {
    switch code {
    case .subscriptionExtensionIneligible: .ineligible
    case .subscriptionMaxExtension: .maxExtensions
    case .familySharedSubscriptionExtensionIneligible, .familyTransactionNotSupported: .familyShared
    case .originalTransactionIdNotFound, .transactionIdNotFound, .accountNotFound: .notFound
    default: .rejected
    }
  }
}

// In the ledger.
extension ExtensionAnswer {
  /// What is kept as the effect's result.
  var bytes: [UInt8] {
    var json = JSONObject()
    switch self {
    case .applied(let date):
      json["answer"] = "applied"
      json["effectiveDate"] = date?.jsonValue
    case .refused(let refusal):
      json["answer"] = "refused"
      json["reason"] = .string(refusal.reason.rawValue)
      json["code"] = refusal.code.map { .integer($0) }
      json["message"] = refusal.message.map { .string(String($0.prefix(300))) }
    case .unclear(let why):
      json["answer"] = "unclear"
      json["why"] = .string(why)
    }
    return json.serialized()
  }

  /// Reads a result that this or an earlier version kept; nil for anything else.
  public init?(_ bytes: [UInt8]) {
    let json: JSONObject
    do { json = try JSONObject(parsing: bytes) } catch { return nil }
    switch json.text("answer") {
    case "applied": self = .applied(effectiveDate: json["effectiveDate"].flatMap { Timestamp(jsonValue: $0) })
    case "refused":
      self = .refused(
        Refusal(
          json.text("reason").flatMap { Reason(rawValue: $0) } ?? .rejected,
          code: json["code"].flatMap { Int64(jsonValue: $0) }, message: json.text("message")))
    case "unclear": self = .unclear(json.text("why") ?? "")
    default: return nil
    }
  }
}

extension JSONObject {
  fileprivate func text(_ name: String) -> String? { self[name].flatMap { String(jsonValue: $0) } }
}
