// One attempt to deliver a notification.

/// When the App Store posted a notification, and what came of it (App Store Server API, `sendAttemptItem`).
public struct SendAttemptItem: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// When.
  public var attemptDate: Timestamp? {
    get { self["attemptDate"] }
    set { self["attemptDate"] = newValue }
  }

  /// What came of it.
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
