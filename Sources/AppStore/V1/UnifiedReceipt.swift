// The transactions of a version 1 notification.

/// The receipt of a version 1 notification (App Store Server Notifications V1, `unified_receipt`). Any field may be
/// absent.
public struct UnifiedReceipt: TextOrNumberObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// `Sandbox` or `Production`.
  public var environment: String? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The receipt, Base64.
  public var latest_receipt: String? {
    get { self["latest_receipt"] }
    set { self["latest_receipt"] = newValue }
  }

  /// At most the 100 newest transactions, in no particular order.
  public var latest_receipt_info: [LatestReceiptInfo]? {
    get { self["latest_receipt_info"] }
    set { self["latest_receipt_info"] = newValue }
  }

  /// The upcoming renewals, one for each product.
  public var pending_renewal_info: [PendingRenewalInfo]? {
    get { self["pending_renewal_info"] }
    set { self["pending_renewal_info"] = newValue }
  }

  /// 0 if the receipt is valid.
  public var status: Int64? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("latest_receipt", \.latest_receipt),
    DocumentedField("latest_receipt_info", \.latest_receipt_info),
    DocumentedField("pending_renewal_info", \.pending_renewal_info),
    DocumentedField("status", \.status),
  ]
}
