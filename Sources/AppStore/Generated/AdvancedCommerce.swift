// Written from Sources/AppStore/Fields/AdvancedCommerce.md by `scripts/check types --write`.

/// The name and description of a purchase (Advanced Commerce API, `descriptors`).
public struct AdvancedCommerceDescriptors: AdvancedCommerceDescribed {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
  ]
}

/// An offer for an item (Advanced Commerce API, `Offer`). Prices are in thousandths of the currency.
public struct AdvancedCommerceOffer: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The length of one period of the offer.
  public var period: AdvancedCommerceOfferPeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The number of periods, from 1 to 12.
  public var periodCount: Int64? {
    get { self["periodCount"] }
    set { self["periodCount"] = newValue }
  }

  /// The price of one period.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The reason for the offer.
  public var reason: AdvancedCommerceOfferReason? {
    get { self["reason"] }
    set { self["reason"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("period", \.period, [.required]),
    DocumentedField("periodCount", \.periodCount, [.required, .periodCountRange]),
    DocumentedField("price", \.price, [.required]),
    DocumentedField("reason", \.reason, [.required]),
  ]
}

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

/// A refund of an item (Advanced Commerce API, `Refund`). Amounts are in thousandths of the currency.
public struct AdvancedCommerceRefund: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The refunded amount.
  public var refundAmount: Int64? {
    get { self["refundAmount"] }
    set { self["refundAmount"] = newValue }
  }

  /// The time at which it was refunded.
  public var refundDate: Timestamp? {
    get { self["refundDate"] }
    set { self["refundDate"] = newValue }
  }

  /// The reason it was refunded.
  public var refundReason: AdvancedCommerceRefundReason? {
    get { self["refundReason"] }
    set { self["refundReason"] = newValue }
  }

  /// The refund type.
  public var refundType: AdvancedCommerceRefundType? {
    get { self["refundType"] }
    set { self["refundType"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("refundAmount", \.refundAmount),
    DocumentedField("refundDate", \.refundDate),
    DocumentedField("refundReason", \.refundReason),
    DocumentedField("refundType", \.refundType),
  ]
}

/// The Advanced Commerce part of renewal info (Advanced Commerce API, `AdvancedCommerceRenewalInfo`).
public struct AdvancedCommerceRenewalInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Identifies the state of the subscription in requests that change it.
  public var consistencyToken: String? {
    get { self["consistencyToken"] }
    set { self["consistencyToken"] = newValue }
  }

  /// The name and description shown to the customer.
  public var descriptors: AdvancedCommerceDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The items that renew.
  public var items: [AdvancedCommerceRenewalItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// The length of a period.
  public var period: AdvancedCommercePeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The developer's identifier for the request, a UUID.
  public var requestReferenceId: String? {
    get { self["requestReferenceId"] }
    set { self["requestReferenceId"] = newValue }
  }

  /// The tax code of the subscription.
  public var taxCode: String? {
    get { self["taxCode"] }
    set { self["taxCode"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("consistencyToken", \.consistencyToken),
    DocumentedField("descriptors", \.descriptors),
    DocumentedField("items", \.items),
    DocumentedField("period", \.period),
    DocumentedField("requestReferenceId", \.requestReferenceId),
    DocumentedField("taxCode", \.taxCode),
  ]
}

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

/// The metadata that every request of the Advanced Commerce API contains (`RequestInfo`).
public struct AdvancedCommerceRequestInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The developer's identifier for the customer, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// Apple's token for a consistent sequence of requests.
  public var consistencyToken: String? {
    get { self["consistencyToken"] }
    set { self["consistencyToken"] = newValue }
  }

  /// The developer's identifier for the request, a UUID.
  public var requestReferenceId: String? {
    get { self["requestReferenceId"] }
    set { self["requestReferenceId"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("appAccountToken", \.appAccountToken, [.uuid]),
    DocumentedField("consistencyToken", \.consistencyToken),
    DocumentedField("requestReferenceId", \.requestReferenceId, [.required, .uuid]),
  ]
}

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
