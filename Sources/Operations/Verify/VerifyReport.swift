// What `millrace verify` prints: one JSON object, whatever the outcome. Pure.

public import AppStore
public import AppStoreSignature

/// The outcome of a verification as the object that is printed.
///
/// The signed payload stands beside our own members; where a payload has a member of the same name, ours counts and the
/// payload's is left out, so that no token can speak about its own validity.
public struct VerifyReport: Sendable, Hashable {
  /// Whether Apple signed the token for the expected app. The tokens inside a notification do not change it: see `inner`.
  public let isValid: Bool
  /// What is printed.
  public let json: JSONObject

  /// One line, without a line feed.
  public var line: String { String(decoding: json.serialized(), as: UTF8.self) }
  /// How the process ends.
  public var status: CommandStatus { isValid ? .success : .failure }

  /// A notification whose outer token is genuine.
  public init(_ verified: VerifiedNotification) {
    var own: JSONObject = ["valid": true, "inner": .string(verified.inner.name)]
    if let message = verified.inner.message { own["innerMessage"] = .string(message) }
    let parts: [(String, JSONObject?)] = [
      ("transaction", verified.transaction?.json), ("renewalInfo", verified.renewalInfo?.json),
      ("appTransaction", verified.appTransaction?.json),
    ]
    var decoded = JSONObject()
    for case (let name, let part?) in parts { decoded[name] = .object(part) }
    self.init(isValid: true, own: own, payload: verified.payload.json, decoded: decoded)
  }

  /// A payload that stands by itself and is genuine.
  public init(payload: JSONObject) {
    self.init(isValid: true, own: ["valid": true], payload: payload, decoded: JSONObject())
  }

  /// What is not believed.
  public init(_ error: VerificationError) {
    self.init(reason: error.reason, message: error.message)
  }

  /// An input in which there is no token.
  public init(_ fault: VerifyInput.Fault) {
    self.init(reason: .format, message: fault.message)
  }

  private init(reason: VerificationError.Reason, message: String) {
    isValid = false
    json = ["valid": false, "reason": .string(reason.rawValue), "message": .string(message)]
  }

  private init(isValid: Bool, own: JSONObject, payload: JSONObject, decoded: JSONObject) {
    self.isValid = isValid
    let taken = Set((own.members + decoded.members).map(\.key) + ["inner", "innerMessage"])
    json = JSONObject(own.members + payload.members.filter { !taken.contains($0.key) } + decoded.members)
  }
}

extension InnerVerdict {
  /// What is wrong with the inner tokens; nil where nothing is.
  var message: String? {
    switch self {
    case .verified: nil
    case .mismatch(let facts): facts.map(\.description).joined(separator: ", ")
    case .forged(let forgery): forgery.description
    }
  }
}
