// Apple's enum values as text for people. A value that this version does not know is shown as Apple writes it.

internal import AppStore

extension Status {
  /// The subscription status as text, with its style.
  var cell: TextCell {
    switch self {
    case .active: TextCell("active", .green)
    case .expired: TextCell("expired", .dim)
    case .billingRetry: TextCell("billing retry", .yellow)
    case .billingGracePeriod: TextCell("grace period", .yellow)
    case .revoked: TextCell("revoked", .red)
    default: TextCell("status \(rawValue)")
    }
  }
}

extension OfferType {
  /// The kind of offer as text.
  var words: String {
    switch self {
    case .introductoryOffer: "introductory offer"
    case .promotionalOffer: "promotional offer"
    case .offerCode: "offer code"
    case .winBackOffer: "win-back offer"
    default: "offer type \(rawValue)"
    }
  }
}

extension OfferDiscountType {
  /// The payment mode of the offer as text.
  var words: String { isKnown ? rawValue.lowercased().split(separator: "_").joined(separator: " ") : rawValue }
}

extension RevocationReason {
  /// The reason for the refund as text.
  var words: String {
    switch self {
    case .refundedDueToIssue: "an issue with the app"
    case .refundedForOtherReason: "another reason"
    default: "reason \(rawValue)"
    }
  }
}

extension RevocationType {
  /// The kind of revocation as text.
  var words: String {
    switch self {
    case .refundFull: "full refund"
    case .refundProrated: "prorated refund"
    case .familyRevoke: "no longer shared by the family"
    default: rawValue
    }
  }
}

extension ExpirationIntent {
  /// The reason for the expiration as text.
  var words: String {
    switch self {
    case .customerCancelled: "the customer cancelled"
    case .billingError: "billing failed"
    case .customerDidNotConsentToPriceIncrease: "no consent to a price increase"
    case .productNotAvailable: "the product was not available"
    case .other: "another reason"
    default: "intent \(rawValue)"
    }
  }
}

extension PriceIncreaseStatus {
  /// The customer's response to a price increase as text.
  var words: String {
    switch rawValue {
    case 0: "not answered yet"
    case 1: "agreed, or no consent needed"
    default: "status \(rawValue)"
    }
  }
}

extension TextCell {
  /// A cell for an optional text.
  init(optional text: String?, _ style: TextStyle = .plain) { self.init(text ?? "", style) }

  /// A cell for an optional time.
  init(_ moment: Timestamp?, _ style: TextStyle = .plain) {
    self.init(optional: moment.map { RecordView.seconds($0) }, style)
  }
}

extension HumanText {
  /// A percentage given in thousandths of a percent, as Apple states it: `50 %`, `33.3 %`, `0.015 %`.
  static func percentage(milliunits: Int64) -> String {
    var fraction = String(milliunits.magnitude % 1000)
    fraction = String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    while fraction.hasSuffix("0") { fraction.removeLast() }
    let whole = "\(milliunits < 0 ? "-" : "")\(milliunits.magnitude / 1000)"
    return (fraction.isEmpty ? whole : "\(whole).\(fraction)") + " %"
  }
}
