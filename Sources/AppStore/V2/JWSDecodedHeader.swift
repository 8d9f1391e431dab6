// The header of a JWS that Apple signs.

/// The header of a JWS from Apple (App Store Server API, `JWSDecodedHeader`). All known tokens from Apple have exactly
/// these two fields, in this order.
public struct JWSDecodedHeader: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The algorithm, `ES256`.
  public var alg: String? {
    get { self["alg"] }
    set { self["alg"] = newValue }
  }

  /// The leaf, intermediate and root certificates: DER in standard Base64.
  public var x5c: [String]? {
    get { self["x5c"] }
    set { self["x5c"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("alg", \.alg),
    DocumentedField("x5c", \.x5c),
  ]
}
