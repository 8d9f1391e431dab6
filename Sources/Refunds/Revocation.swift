// The revocation of a transaction, from the fields that Apple signs.

internal import AppStore

/// A refund or the end of family sharing, according to a signed transaction.
struct Revocation: Sendable, Hashable {
  /// The extent of a revocation.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A full refund.
    case full
    /// A refund of the part in ``Revocation/percentage``.
    case prorated
    /// The purchase is no longer shared with the family.
    case family
    /// A `revocationType` that was not documented when this version was built. The transaction is revoked in any case.
    case unknown
  }

  /// The extent of the revocation.
  var kind: Kind
  /// `revocationPercentage`, in thousandths of a percent; for refunds only.
  var percentage: Int64?
  /// `revocationReason`: 1 for an issue within the app, 0 for any other.
  var reason: Int64?
  /// `revocationDate`.
  var date: Timestamp

  /// The full price, in the unit of `revocationPercentage`.
  static let wholePrice: Int64 = 100_000

  init(kind: Kind, percentage: Int64? = nil, reason: Int64? = nil, date: Timestamp) {
    self.kind = kind
    self.percentage = percentage
    self.reason = reason
    self.date = date
  }

  /// Creates the revocation of a transaction; nil if it is not revoked.
  init?(_ transaction: JWSTransactionDecodedPayload) {
    guard let date = transaction.revocationDate else { return nil }
    self.init(transaction, date: date)
  }

  /// Creates the revocation of a transaction at `date`, for a notification that itself reports a revocation.
  init(_ transaction: JWSTransactionDecodedPayload, date: Timestamp) {
    kind = Self.kind(of: transaction)
    percentage = kind == .family ? nil : transaction.revocationPercentage
    reason = transaction.revocationReason.map { Int64($0.rawValue) }
    self.date = date
  }

  /// Derives the kind from ownership and percentage if the transaction was signed before `revocationType` existed.
  private static func kind(of transaction: JWSTransactionDecodedPayload) -> Kind {
    switch transaction.revocationType {
    case .refundFull?: return .full
    case .refundProrated?: return .prorated
    case .familyRevoke?: return .family
    case .some: return .unknown
    case nil: break
    }
    if transaction.inAppOwnershipType == .familyShared { return .family }
    return transaction.revocationPercentage.map { $0 < wholePrice } ?? false ? .prorated : .full
  }
}
