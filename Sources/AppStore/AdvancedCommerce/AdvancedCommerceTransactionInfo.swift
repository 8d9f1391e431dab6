// What was bought in an Advanced Commerce purchase.

/// The Advanced Commerce part of a transaction (Advanced Commerce API, `AdvancedCommerceTransactionInfo`). Prices are
/// in thousandths of the currency.
public struct AdvancedCommerceTransactionInfo: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// What the customer sees.
  public var descriptors: AdvancedCommerceDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The tax, as far as known.
  public var estimatedTax: Int64? {
    get { self["estimatedTax"] }
    set { self["estimatedTax"] = newValue }
  }

  /// The items bought.
  public var items: [AdvancedCommerceTransactionItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// How long a period of the subscription is.
  public var period: AdvancedCommercePeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The identifier that the developer gave with the request, a UUID.
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
