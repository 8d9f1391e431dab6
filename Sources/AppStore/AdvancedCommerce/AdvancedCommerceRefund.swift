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
