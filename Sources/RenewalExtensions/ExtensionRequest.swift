// The request for one subscription. Its identifier is derived from campaign and subscription, so that all attempts of
// an extension are the same request for Apple, whichever process makes them.

package import AppStore
internal import Crypto

/// Identifiers and bodies for the extension of one subscription in a campaign.
package enum ExtensionRequest {
  /// The longest identifier that Apple accepts (App Store Server API, `requestIdentifier`).
  static let maximumIdentifierLength = 128

  /// Returns the `requestIdentifier`, at most 128 characters. It is unique for a campaign and a subscription.
  package static func identifier(campaign: String, originalTransactionId: String) -> String {
    let whole = "\(campaign).\(originalTransactionId)"
    guard whole.utf8.count > maximumIdentifierLength else { return whole }
    // Apple's identifiers have about 16 digits. Longer ones are replaced with their digest.
    let digest = SHA256.hash(data: Array(originalTransactionId.utf8))
    let digits = digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    return "\(campaign.prefix(maximumIdentifierLength - digits.utf8.count - 1)).\(digits)"
  }

  /// Returns the request's body.
  package static func body(_ campaign: Campaign, originalTransactionId: String) -> ExtendRenewalDateRequest {
    ExtendRenewalDateRequest(
      extendByDays: campaign.days, extendReasonCode: campaign.reason,
      requestIdentifier: identifier(campaign: campaign.id, originalTransactionId: originalTransactionId))
  }

  /// Returns the effect's name in the ledger.
  package static func effect(campaign: String, originalTransactionId: String) -> String {
    effects(of: campaign) + originalTransactionId
  }

  /// Returns the prefix of the names of a campaign's effects.
  package static func effects(of campaign: String) -> String { "extend/\(campaign)/" }
}
