/// The time and result of a delivery attempt (App Store Server API, `sendAttemptItem`).
public struct SendAttemptItem: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The time of the attempt.
  public var attemptDate: Timestamp? {
    get { self["attemptDate"] }
    set { self["attemptDate"] = newValue }
  }

  /// The result of the attempt.
  public var sendAttemptResult: SendAttemptResult? {
    get { self["sendAttemptResult"] }
    set { self["sendAttemptResult"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("attemptDate", \.attemptDate),
    DocumentedField("sendAttemptResult", \.sendAttemptResult),
  ]
}
