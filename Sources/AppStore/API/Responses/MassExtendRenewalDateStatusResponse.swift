// How far the extension for everybody is.

/// The answer of Get Status of Subscription Renewal Date Extensions (App Store Server API,
/// `MassExtendRenewalDateStatusResponse`).
public struct MassExtendRenewalDateStatusResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The identifier of the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// Whether Apple is done.
  public var complete: Bool? {
    get { self["complete"] }
    set { self["complete"] = newValue }
  }

  /// When it was done; absent before.
  public var completeDate: Timestamp? {
    get { self["completeDate"] }
    set { self["completeDate"] = newValue }
  }

  /// How many subscriptions were extended; absent before Apple is done.
  public var succeededCount: Int64? {
    get { self["succeededCount"] }
    set { self["succeededCount"] = newValue }
  }

  /// How many were not; absent before Apple is done.
  public var failedCount: Int64? {
    get { self["failedCount"] }
    set { self["failedCount"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestIdentifier", \.requestIdentifier),
    DocumentedField("complete", \.complete),
    DocumentedField("completeDate", \.completeDate),
    DocumentedField("succeededCount", \.succeededCount),
    DocumentedField("failedCount", \.failedCount),
  ]
}
