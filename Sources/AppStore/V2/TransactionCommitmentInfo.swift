// The commitment that a transaction is a part of.

/// The commitment of a transaction (App Store Server API 1.21, `commitmentInfo`). Prices are in thousandths of the
/// currency.
public struct TransactionCommitmentInfo: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Which of the billing periods this is, from 1.
  public var billingPeriodNumber: Int64? {
    get { self["billingPeriodNumber"] }
    set { self["billingPeriodNumber"] = newValue }
  }

  /// When the commitment ends.
  public var commitmentExpiresDate: Timestamp? {
    get { self["commitmentExpiresDate"] }
    set { self["commitmentExpiresDate"] = newValue }
  }

  /// The price of the whole commitment.
  public var commitmentPrice: Int64? {
    get { self["commitmentPrice"] }
    set { self["commitmentPrice"] = newValue }
  }

  /// How many billing periods the commitment has.
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
