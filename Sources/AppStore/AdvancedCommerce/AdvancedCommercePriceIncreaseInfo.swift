/// A price increase of an item (Advanced Commerce API, `PriceIncreaseInfo`). Prices are in thousandths of the currency.
public struct AdvancedCommercePriceIncreaseInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The items whose prices depend on this one.
  public var dependentSKUs: [String]? {
    get { self["dependentSKUs"] }
    set { self["dependentSKUs"] = newValue }
  }

  /// The price after the increase.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The status of the price increase.
  public var status: AdvancedCommercePriceIncreaseInfoStatus? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("dependentSKUs", \.dependentSKUs),
    DocumentedField("price", \.price),
    DocumentedField("status", \.status),
  ]
}
