/// The Advanced Commerce part of a transaction (Advanced Commerce API, `AdvancedCommerceTransactionInfo`). Prices are
/// in thousandths of the currency.
public struct AdvancedCommerceTransactionInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The name and description shown to the customer.
  public var descriptors: AdvancedCommerceDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The estimated tax.
  public var estimatedTax: Int64? {
    get { self["estimatedTax"] }
    set { self["estimatedTax"] = newValue }
  }

  /// The purchased items.
  public var items: [AdvancedCommerceTransactionItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// The length of a subscription period.
  public var period: AdvancedCommercePeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The developer's identifier for the request, a UUID.
  public var requestReferenceId: String? {
    get { self["requestReferenceId"] }
    set { self["requestReferenceId"] = newValue }
  }

  /// The tax code of the purchase.
  public var taxCode: String? {
    get { self["taxCode"] }
    set { self["taxCode"] = newValue }
  }

  /// The price without tax.
  public var taxExclusivePrice: Int64? {
    get { self["taxExclusivePrice"] }
    set { self["taxExclusivePrice"] = newValue }
  }

  /// The tax rate, a decimal number as text.
  public var taxRate: String? {
    get { self["taxRate"] }
    set { self["taxRate"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("descriptors", \.descriptors),
    DocumentedField("estimatedTax", \.estimatedTax),
    DocumentedField("items", \.items),
    DocumentedField("period", \.period),
    DocumentedField("requestReferenceId", \.requestReferenceId),
    DocumentedField("taxCode", \.taxCode),
    DocumentedField("taxExclusivePrice", \.taxExclusivePrice),
    DocumentedField("taxRate", \.taxRate),
  ]
}
