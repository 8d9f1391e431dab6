// What a transaction means now, in one word. A decision over the payload and the present; Apple states it nowhere.

public import AppStore

/// What became of a transaction.
public enum TransactionState: String, Sendable, Hashable, CaseIterable {
  /// Refunded, or no longer shared by the family.
  case revoked
  /// Left early for a higher plan.
  case upgraded
  /// Its period is over.
  case expired
  /// Its period runs, or has not begun.
  case current
  /// Bought, and without an end.
  case bought

  /// The state of a transaction at a moment.
  public init(_ transaction: JWSTransactionDecodedPayload, at now: Timestamp) {
    if transaction.revocationDate != nil {
      self = .revoked
    } else if transaction.isUpgraded == true {
      self = .upgraded
    } else if let expiresDate = transaction.expiresDate {
      self = expiresDate <= now ? .expired : .current
    } else {
      self = .bought
    }
  }

  var cell: TextCell {
    let style: TextStyle =
      switch self {
      case .revoked: .red
      case .upgraded: .cyan
      case .expired: .dim
      case .current, .bought: .green
      }
    return TextCell(rawValue, style)
  }
}
