// The current state of a transaction, derived from its payload and the time. Apple does not state it in one field.

package import AppStore

/// The state of a transaction.
package enum TransactionState: String, Sendable, Hashable, CaseIterable {
  /// Refunded, or no longer shared by the family.
  case revoked
  /// Replaced by an upgrade before its period ended.
  case upgraded
  /// Its period is over.
  case expired
  /// Its period has not ended.
  case current
  /// Purchased, without an expiration date.
  case bought

  /// The state of a transaction at a given time.
  package init(_ transaction: JWSTransactionDecodedPayload, at now: Timestamp) {
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
