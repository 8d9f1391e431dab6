// What was taken back of a transaction, by the fields that Apple signs.

internal import AppStore

/// A refund, or the end of family sharing, as a signed transaction tells it.
struct Revocation: Sendable, Hashable {
  /// What was taken back.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// All of it.
    case full
    /// The part that ``Revocation/percentage`` says.
    case prorated
    /// The family does not share it any more.
    case family
    /// A `revocationType` that Apple did not document when this was built: revoked it is all the same.
    case unknown
  }

  /// What was taken back.
  var kind: Kind
  /// `revocationPercentage`, in thousandths of a percent; of refunds only.
  var percentage: Int64?
  /// `revocationReason`: 1 for an issue within the app, 0 for any other.
  var reason: Int64?
  /// `revocationDate`.
  var date: Timestamp

  /// All of a price in `revocationPercentage`.
  static let wholePrice: Int64 = 100_000

  init(kind: Kind, percentage: Int64? = nil, reason: Int64? = nil, date: Timestamp) {
    self.kind = kind
    self.percentage = percentage
    self.reason = reason
    self.date = date
  }

  /// What the transaction says of itself; nil where it stands.
  init?(_ transaction: JWSTransactionDecodedPayload) {
    guard let date = transaction.revocationDate else { return nil }
    self.init(transaction, date: date)
  }

  /// What the transaction says, revoked at `date`: for a notification that tells of a revocation itself.
  init(_ transaction: JWSTransactionDecodedPayload, date: Timestamp) {
    kind = Self.kind(of: transaction)
    percentage = kind == .family ? nil : transaction.revocationPercentage
    reason = transaction.revocationReason.map { Int64($0.rawValue) }
    self.date = date
  }

  /// Transactions signed before Apple had `revocationType` say it by ownership and percentage.
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
