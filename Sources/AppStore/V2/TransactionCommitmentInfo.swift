// The commitment that a transaction belongs to.

/// The commitment of a transaction (App Store Server API 1.21, `commitmentInfo`). Prices are in thousandths of the
/// currency.
public struct TransactionCommitmentInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The number of this billing period, starting at 1.
  public var billingPeriodNumber: Int64? {
    get { self["billingPeriodNumber"] }
    set { self["billingPeriodNumber"] = newValue }
  }

  /// The time at which the commitment ends.
  public var commitmentExpiresDate: Timestamp? {
    get { self["commitmentExpiresDate"] }
    set { self["commitmentExpiresDate"] = newValue }
  }

  /// The price of the whole commitment.
  public var commitmentPrice: Int64? {
    get { self["commitmentPrice"] }
    set { self["commitmentPrice"] = newValue }
  }

  /// The number of billing periods in the commitment.
  public var totalBillingPeriods: Int64? {
    get { self["totalBillingPeriods"] }
    set { self["totalBillingPeriods"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("billingPeriodNumber", \.billingPeriodNumber),
    DocumentedField("commitmentExpiresDate", \.commitmentExpiresDate),
    DocumentedField("commitmentPrice", \.commitmentPrice),
    DocumentedField("totalBillingPeriods", \.totalBillingPeriods),
  ]
}
