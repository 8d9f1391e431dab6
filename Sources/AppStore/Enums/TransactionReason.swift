/// The cause of a transaction (App Store Server API, `transactionReason`).
public struct TransactionReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A purchase by the customer.
  public static let purchase = TransactionReason(rawValue: "PURCHASE")
  /// A renewal by the App Store.
  public static let renewal = TransactionReason(rawValue: "RENEWAL")

  /// The values that Apple documents.
  public static let allKnown: [TransactionReason] = [
    .purchase, .renewal,
  ]
}
