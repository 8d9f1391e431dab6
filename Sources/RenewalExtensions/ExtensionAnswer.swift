// Apple's final answer to an extension of one subscription, and its encoding in the ledger. Temporary conditions, such
// as a missing rate-limit slot or response, are errors, and the worker retries the notification.

package import AppStore
package import AppStoreServerAPI

/// The final result of one extension.
package enum ExtensionAnswer: Sendable, Hashable {
  /// The renewal date moved, with the new date if known.
  case applied(effectiveDate: Timestamp?)
  /// The renewal date did not move and will not.
  case refused(Refusal)
  /// The result is unknown. The worker sends nothing further.
  case unclear(String)

  /// Apple's refusal.
  package struct Refusal: Sendable, Hashable {
    /// The stable code of the reason.
    package var reason: Reason
    /// Apple's error code.
    package var code: Int64?
    /// Apple's error message.
    package var message: String?

    /// Creates a refusal.
    package init(_ reason: Reason, code: Int64?, message: String?) {
      self.reason = reason
      self.code = code
      self.message = message
    }
  }

  /// Why a subscription was not extended. The raw value is part of events.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// In a free offer, in billing retry, expired, or never paid for.
    case ineligible
    /// Already extended twice in 365 days.
    case maxExtensions = "max-extensions"
    /// Shared by a family member. Only the purchaser's subscription can be extended.
    case familyShared = "family-shared"
    /// Apple knows no such subscription.
    case notFound = "not-found"
    /// Apple reports no success, without an error.
    case unsuccessful
    /// Any other permanent refusal.
    case rejected
  }
}

extension ExtensionAnswer {
  /// Creates the answer from a successful call. Apple documents the field `success`, but not when it is false.
  package init(_ response: ExtendRenewalDateResponse) {
    self =
      response.success == true
      ? .applied(effectiveDate: response.effectiveDate)
      : .refused(Refusal(.unsuccessful, code: nil, message: nil))
  }

  /// Creates the answer from a permanent error; nil if a retry may succeed, a person has to act, or the result is
  /// unknown.
  ///
  /// Only an error code from Apple is permanent: a status without one may come from a gateway.
  package init?(_ error: APIError) {
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
  /// The effect's result in the ledger.
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

  /// Decodes a result from this or an earlier version; nil for anything else.
  package init?(_ bytes: [UInt8]) {
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
