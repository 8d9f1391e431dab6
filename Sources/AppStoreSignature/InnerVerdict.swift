// What the tokens inside a notification turned out to be.

/// A token inside a notification.
public enum InnerToken: String, Sendable, Hashable, CaseIterable {
  /// `data.signedTransactionInfo`
  case transaction
  /// `data.signedRenewalInfo`
  case renewalInfo
  /// `appData.signedAppTransactionInfo`
  case appTransaction
}

/// A fact that an inner token states otherwise than the token it is held against.
public struct InnerMismatch: Sendable, Hashable, CustomStringConvertible {
  /// The token that disagrees.
  public let token: InnerToken
  /// The field, as Apple spells it in that token.
  public let field: String
  /// What the notification says; for `originalTransactionId`, what the transaction says.
  public let expected: String
  /// What the token says.
  public let found: String

  /// A difference between these values.
  public init(token: InnerToken, field: String, expected: String, found: String) {
    self.token = token
    self.field = field
    self.expected = expected
    self.found = found
  }

  /// `transaction.bundleId is com.example.other instead of com.example.app`
  public var description: String { "\(token.rawValue).\(field) is \(found) instead of \(expected)" }
}

/// An inner token that is not genuine.
public struct InnerForgery: Sendable, Hashable, CustomStringConvertible {
  /// The token.
  public let token: InnerToken
  /// Why it is not believed.
  public let error: VerificationError

  /// That fault of that token.
  public init(token: InnerToken, error: VerificationError) {
    self.token = token
    self.error = error
  }

  /// Token, class and message.
  public var description: String { "\(token.rawValue): \(error.reason.rawValue): \(error.message)" }
}

/// The verdict about the tokens inside a notification whose outer token is genuine. Whoever acts on a notification
/// refuses everything but ``verified``.
public enum InnerVerdict: Sendable, Hashable {
  /// Every inner token there is was signed by Apple and agrees with the notification. Also when there is none.
  case verified
  /// Every inner token is genuine, and these facts differ: a genuine token in the wrong notification.
  case mismatch([InnerMismatch])
  /// This inner token is not genuine; the first one that is not.
  case forged(InnerForgery)

  /// `verified`, `mismatch` or `forged`, as `millrace verify` prints it.
  public var name: String {
    switch self {
    case .verified: "verified"
    case .mismatch: "mismatch"
    case .forged: "forged"
    }
  }
}
