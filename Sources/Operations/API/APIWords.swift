// Apple's values in words. What Apple adds after us shows as Apple writes it.

internal import AppStore

extension Status {
  /// The state in words, and how it looks.
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
  /// The kind of offer in words.
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
  /// How the offer is paid, in words.
  var words: String { isKnown ? rawValue.lowercased().split(separator: "_").joined(separator: " ") : rawValue }
}

extension RevocationReason {
  /// Why it was refunded, in words.
  var words: String {
    switch self {
    case .refundedDueToIssue: "an issue with the app"
    case .refundedForOtherReason: "another reason"
    default: "reason \(rawValue)"
    }
  }
}

extension RevocationType {
  /// What the revocation took away, in words.
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
  /// Why the subscription expired, in words.
  var words: String {
    switch self {
    case .customerCancelled: "the customer cancelled"
    case .billingError: "billing failed"
    case .customerDidNotConsentToPriceIncrease: "no consent to a price increase"
    case .productNotAvailable: "the product was not for sale"
    case .other: "another reason"
    default: "intent \(rawValue)"
    }
  }
}

extension PriceIncreaseStatus {
  /// What the customer said to a price increase, in words.
  var words: String {
    switch rawValue {
    case 0: "not answered yet"
    case 1: "agreed, or need not"
    default: "status \(rawValue)"
    }
  }
}

extension TextCell {
  /// A field that may be missing.
  init(optional text: String?, _ style: TextStyle = .plain) { self.init(text ?? "", style) }

  /// A moment that may be missing.
  init(_ moment: Timestamp?, _ style: TextStyle = .plain) {
    self.init(optional: moment.map { RecordView.seconds($0) }, style)
  }
}

extension HumanText {
  /// A part of a whole in thousandths of a percent, as Apple states it: `50 %`, `33.3 %`, `0.015 %`.
  static func percentage(milliunits: Int64) -> String {
    var fraction = String(milliunits.magnitude % 1000)
    fraction = String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    while fraction.hasSuffix("0") { fraction.removeLast() }
    let whole = "\(milliunits < 0 ? "-" : "")\(milliunits.magnitude / 1000)"
    return (fraction.isEmpty ? whole : "\(whole).\(fraction)") + " %"
  }
}
