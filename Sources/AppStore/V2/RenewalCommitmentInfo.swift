// The next commitment of a subscription.

/// The commitment of a renewal (App Store Server API 1.21, `commitmentInfo`). Prices are in thousandths of the
/// currency.
public struct RenewalCommitmentInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The product that renews next.
  public var commitmentAutoRenewProductId: String? {
    get { self["commitmentAutoRenewProductId"] }
    set { self["commitmentAutoRenewProductId"] = newValue }
  }

  /// Whether the commitment will renew.
  public var commitmentAutoRenewStatus: AutoRenewStatus? {
    get { self["commitmentAutoRenewStatus"] }
    set { self["commitmentAutoRenewStatus"] = newValue }
  }

  /// The billing plan of the next commitment.
  public var commitmentRenewalBillingPlanType: RenewalBillingPlanType? {
    get { self["commitmentRenewalBillingPlanType"] }
    set { self["commitmentRenewalBillingPlanType"] = newValue }
  }

  /// The time at which the next commitment starts.
  public var commitmentRenewalDate: Timestamp? {
    get { self["commitmentRenewalDate"] }
    set { self["commitmentRenewalDate"] = newValue }
  }

  /// The price of the next commitment.
  public var commitmentRenewalPrice: Int64? {
    get { self["commitmentRenewalPrice"] }
    set { self["commitmentRenewalPrice"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("commitmentAutoRenewProductId", \.commitmentAutoRenewProductId),
    DocumentedField("commitmentAutoRenewStatus", \.commitmentAutoRenewStatus),
    DocumentedField("commitmentRenewalBillingPlanType", \.commitmentRenewalBillingPlanType),
    DocumentedField("commitmentRenewalDate", \.commitmentRenewalDate),
    DocumentedField("commitmentRenewalPrice", \.commitmentRenewalPrice),
  ]
}
