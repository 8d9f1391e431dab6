// Whether Apple's word that a subscription was extended answers a call of ours. It names neither campaign nor request.

internal import AppStore
internal import Millrace

/// Extensions that we asked for, one subscription at a time.
enum OwnExtension {
  /// Whether a RENEWAL_EXTENDED is what our retry brought about.
  ///
  /// - Parameters:
  ///   - subject: What it names.
  ///   - end: The end of the period in it.
  ///   - campaign: A campaign about the subject.
  ///   - standing: How the retry stands that the campaign has of this subscription.
  static func explains(
    _ subject: ExtensionSubject, until end: Timestamp?, _ campaign: Campaign, _ standing: EffectStanding
  ) -> Bool {
    // A subscription that failed is not extended by the campaign that it failed in.
    if campaign.isOpen(at: subject.signedDate) { return true }
    switch standing {
    // Apple's word can be here before its answer.
    case .open(let since): return subject.signedDate >= since - Campaign.windowLead
    case .ended(let result):
      guard case .applied(let date)? = ExtensionAnswer(result) else { return false }
      return date == nil || date == end
    }
  }
}
