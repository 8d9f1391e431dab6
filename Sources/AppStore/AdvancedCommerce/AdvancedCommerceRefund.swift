// A refund of an Advanced Commerce item.

/// A refund of an item (Advanced Commerce API, `Refund`). Amounts are in thousandths of the currency.
public struct AdvancedCommerceRefund: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The amount refunded.
  public var refundAmount: Int64? {
    get { self["refundAmount"] }
    set { self["refundAmount"] = newValue }
  }

  /// When it was refunded.
  public var refundDate: Timestamp? {
    get { self["refundDate"] }
    set { self["refundDate"] = newValue }
  }

  /// Why it was refunded.
  public var refundReason: AdvancedCommerceRefundReason? {
    get { self["refundReason"] }
    set { self["refundReason"] = newValue }
  }

  /// How much of it was refunded.
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
