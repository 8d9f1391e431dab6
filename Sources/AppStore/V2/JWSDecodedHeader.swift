// The header of what Apple signs.

/// The header of a JWS of Apple's (App Store Server API, `JWSDecodedHeader`): exactly these two fields, in this order,
/// in everything that Apple is known to have signed.
public struct JWSDecodedHeader: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The algorithm, `ES256`.
  public var alg: String? {
    get { self["alg"] }
    set { self["alg"] = newValue }
  }

  /// Leaf, intermediate and root certificate: DER in standard Base64.
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
