// The result of verifying the inner tokens of a notification.

/// An inner token of a notification.
public enum InnerToken: String, Sendable, Hashable, CaseIterable {
  /// `data.signedTransactionInfo`.
  case transaction
  /// `data.signedRenewalInfo`.
  case renewalInfo
  /// `appData.signedAppTransactionInfo`.
  case appTransaction
}

/// A field in which an inner token differs from the token it is compared with.
public struct InnerMismatch: Sendable, Hashable, CustomStringConvertible {
  /// The inner token.
  public let token: InnerToken
  /// The field, as Apple spells it in the inner token.
  public let field: String
  /// The value in the notification; for `originalTransactionId`, the value in the transaction.
  public let expected: String
  /// The value in the inner token.
  public let found: String

  /// Creates a mismatch.
  public init(token: InnerToken, field: String, expected: String, found: String) {
    self.token = token
    self.field = field
    self.expected = expected
    self.found = found
  }

  /// For example `transaction.bundleId is com.example.other instead of com.example.app`.
  public var description: String { "\(token.rawValue).\(field) is \(found) instead of \(expected)" }
}

/// An inner token that is not genuine.
public struct InnerForgery: Sendable, Hashable, CustomStringConvertible {
  /// The inner token.
  public let token: InnerToken
  /// The reason it is not genuine.
  public let error: VerificationError

  /// Creates a forgery.
  public init(token: InnerToken, error: VerificationError) {
    self.token = token
    self.error = error
  }

  /// The token, the reason and the message.
  public var description: String { "\(token.rawValue): \(error.reason.rawValue): \(error.message)" }
}

/// The verdict about the inner tokens of a notification whose outer token is genuine. Act on a notification only if
/// ``isGenuine``.
public enum InnerVerdict: Sendable, Hashable {
  /// The notification's signature covers the text of every inner token, and their claims agree with the notification's.
  case vouched
  /// Apple signed every inner token, and all agree with the notification. Also used if there are no inner tokens.
  case verified
  /// These fields differ: a genuine token in the wrong notification.
  case mismatch([InnerMismatch])
  /// The first inner token that is not genuine; with ``InnerTokenCheck/vouched``, that cannot be decoded.
  case forged(InnerForgery)

  /// Whether the notification can be acted on: ``vouched`` or ``verified``.
  public var isGenuine: Bool { self == .vouched || self == .verified }

  /// `vouched`, `verified`, `mismatch` or `forged`, as `millrace verify` prints it.
  public var name: String {
    switch self {
    case .vouched: "vouched"
    case .verified: "verified"
    case .mismatch: "mismatch"
    case .forged: "forged"
    }
  }
}
