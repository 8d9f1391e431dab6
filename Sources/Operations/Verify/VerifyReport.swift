// The output of `millrace verify`: one JSON object for any result. Pure.

package import AppStore
package import AppStoreSignature

/// The result of a verification as the printed object.
///
/// The object combines Millrace's members with the signed payload. If both have a member of the same name, Millrace's
/// wins, so no token can make statements about its own validity.
package struct VerifyReport: Sendable, Hashable {
  /// Whether Apple signed the token for the expected app. Does not depend on the tokens inside a notification: see
  /// `inner`.
  package let isValid: Bool
  /// The printed object.
  package let json: JSONObject

  /// The report as one line of JSON, without a line feed.
  package var line: String { String(decoding: json.serialized(), as: UTF8.self) }
  /// The exit status.
  package var status: CommandStatus { isValid ? .success : .failure }

  /// The report of a notification whose outer token is genuine.
  package init(_ verified: VerifiedNotification) {
    var own: JSONObject = ["valid": true, "inner": .string(verified.inner.name)]
    if let message = verified.inner.message { own["innerMessage"] = .string(message) }
    let parts: [(String, JSONObject?)] = [
      ("transaction", verified.transaction?.payload.json), ("renewalInfo", verified.renewalInfo?.payload.json),
      ("appTransaction", verified.appTransaction?.payload.json),
    ]
    var decoded = JSONObject()
    for case (let name, let part?) in parts { decoded[name] = .object(part) }
    self.init(isValid: true, own: own, payload: verified.payload.json, decoded: decoded)
  }

  /// The report of a genuine payload of another kind.
  package init(payload: JSONObject) {
    self.init(isValid: true, own: ["valid": true], payload: payload, decoded: JSONObject())
  }

  /// The report of a token that failed verification.
  package init(_ error: VerificationError) {
    self.init(reason: error.reason, message: error.message)
  }

  /// The report of an input without a token.
  package init(_ fault: VerifyInput.Fault) {
    self.init(reason: .format, message: fault.message)
  }

  private init(reason: VerificationError.Reason, message: String) {
    isValid = false
    json = ["valid": false, "reason": .string(reason.rawValue), "message": .string(message)]
  }

  /// The report of a token that Xcode signed, for StoreKit testing.
  static func xcode(_ kind: SignedDataKind?) -> VerifyReport {
    VerifyReport(
      reason: .environment,
      message: "\(kind?.name ?? "a token") of Xcode's StoreKit testing; Apple does not sign these, so use the sandbox")
  }

  /// Returns the report of a token of another kind than the expected one. A signature that is wrong stays the reason.
  func refusing(_ found: SignedDataKind, as expected: SignedDataKind) -> VerifyReport {
    let reasons = [VerificationError.Reason.format, .appIdentifier, .environment].map { JSON.string($0.rawValue) }
    guard isValid || json["reason"].map(reasons.contains) ?? false else { return self }
    return VerifyReport(
      reason: .format, message: "the token is \(found.name), not \(expected.name); use --kind \(found.rawValue)")
  }

  private init(isValid: Bool, own: JSONObject, payload: JSONObject, decoded: JSONObject) {
    self.isValid = isValid
    let taken = Set((own.members + decoded.members).map(\.key) + ["inner", "innerMessage"])
    json = JSONObject(own.members + payload.members.filter { !taken.contains($0.key) } + decoded.members)
  }
}

extension InnerVerdict {
  /// The problem with the inner tokens; nil if there is none.
  var message: String? {
    switch self {
    case .vouched, .verified: nil
    case .mismatch(let facts): facts.map(\.description).joined(separator: ", ")
    case .forged(let forgery): forgery.description
    }
  }
}
