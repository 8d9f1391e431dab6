// Why a transaction came about.

/// The cause of a transaction (App Store Server API, `transactionReason`).
public struct TransactionReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer bought.
  public static let purchase = TransactionReason(rawValue: "PURCHASE")
  /// The App Store renewed a subscription.
  public static let renewal = TransactionReason(rawValue: "RENEWAL")

  /// The values that Apple documents.
  public static let allKnown: [TransactionReason] = [
    .purchase, .renewal,
  ]
}
