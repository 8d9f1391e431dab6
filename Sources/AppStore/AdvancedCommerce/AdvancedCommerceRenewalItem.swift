/// An item of an Advanced Commerce subscription that renews (Advanced Commerce API, `RenewalItem`). Prices are in
/// thousandths of the currency.
public struct AdvancedCommerceRenewalItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The offer that applies.
  public var offer: AdvancedCommerceOffer? {
    get { self["offer"] }
    set { self["offer"] = newValue }
  }

  /// The price of one period.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// An upcoming price increase.
  public var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo? {
    get { self["priceIncreaseInfo"] }
    set { self["priceIncreaseInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU),
    DocumentedField("description", \.description),
    DocumentedField("displayName", \.displayName),
    DocumentedField("offer", \.offer),
    DocumentedField("price", \.price),
    DocumentedField("priceIncreaseInfo", \.priceIncreaseInfo),
  ]
}
