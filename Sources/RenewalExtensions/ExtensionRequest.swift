// The request for one subscription: named after campaign and subscription, so that every try of the same extension is the
// same request for Apple, whoever makes it.

public import AppStore
internal import Crypto

/// Names and requests of the extension of one subscription in a campaign.
public enum ExtensionRequest {
  /// The most that Apple takes (App Store Server API, `requestIdentifier`).
  static let maximumIdentifierLength = 128

  /// `requestIdentifier`: campaign and subscription, at most 128 characters. Equal for equal ones, different for others.
  public static func identifier(campaign: String, originalTransactionId: String) -> String {
    let whole = "\(campaign).\(originalTransactionId)"
    guard whole.utf8.count > maximumIdentifierLength else { return whole }
    // Apple's identifiers have about sixteen digits; what is longer is told by its digest.
    let digest = SHA256.hash(data: Array(originalTransactionId.utf8))
    let digits = digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    return "\(campaign.prefix(maximumIdentifierLength - digits.utf8.count - 1)).\(digits)"
  }

  /// The body that is sent.
  public static func body(_ campaign: Campaign, originalTransactionId: String) -> ExtendRenewalDateRequest {
    ExtendRenewalDateRequest(
      extendByDays: campaign.days, extendReasonCode: campaign.reason,
      requestIdentifier: identifier(campaign: campaign.id, originalTransactionId: originalTransactionId))
  }

  /// The effect's name in the ledger.
  public static func effect(campaign: String, originalTransactionId: String) -> String {
    effects(of: campaign) + originalTransactionId
  }

  /// What the names of all effects of a campaign begin with.
  public static func effects(of campaign: String) -> String { "extend/\(campaign)/" }
}
