/// The response of Get Status of Subscription Renewal Date Extensions (App Store Server API,
/// `MassExtendRenewalDateStatusResponse`).
public struct MassExtendRenewalDateStatusResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The identifier of the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// Whether the extension is complete.
  public var complete: Bool? {
    get { self["complete"] }
    set { self["complete"] = newValue }
  }

  /// The completion time; absent before.
  public var completeDate: Timestamp? {
    get { self["completeDate"] }
    set { self["completeDate"] = newValue }
  }

  /// The number of subscriptions that were extended; absent until the extension is complete.
  public var succeededCount: Int64? {
    get { self["succeededCount"] }
    set { self["succeededCount"] = newValue }
  }

  /// The number of subscriptions that were not extended; absent until the extension is complete.
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
