/// A purchased item (Advanced Commerce API, `TransactionItem`). Prices are in thousandths of the currency.
public struct AdvancedCommerceTransactionItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The offer that applied.
  public var offer: AdvancedCommerceOffer? {
    get { self["offer"] }
    set { self["offer"] = newValue }
  }

  /// The price.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The refunds of the item so far.
  public var refunds: [AdvancedCommerceRefund]? {
    get { self["refunds"] }
    set { self["refunds"] = newValue }
  }

  /// The time at which the item was revoked.
  public var revocationDate: Timestamp? {
    get { self["revocationDate"] }
    set { self["revocationDate"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU),
    DocumentedField("description", \.description),
    DocumentedField("displayName", \.displayName),
    DocumentedField("offer", \.offer),
    DocumentedField("price", \.price),
    DocumentedField("refunds", \.refunds),
    DocumentedField("revocationDate", \.revocationDate),
  ]
}
