// Determines whether a RENEWAL_EXTENDED notification results from the worker's own call. It names neither campaign nor
// request.

internal import AppStore
internal import MillraceWorker

enum OwnExtension {
  /// Whether a RENEWAL_EXTENDED notification results from the worker's retry.
  ///
  /// - Parameters:
  ///   - subject: The subscription in the notification.
  ///   - end: The end of the period in the notification.
  ///   - campaign: A campaign that matches the subject.
  ///   - status: The state of the campaign's retry for this subscription.
  static func explains(
    _ subject: ExtensionSubject, until end: Timestamp?, _ campaign: Campaign, _ status: EffectStatus
  ) -> Bool {
    // The mass extension does not extend a subscription for which it reported a failure.
    if campaign.isOpen(at: subject.signedDate) { return true }
    switch status {
    // The notification can arrive before the response of the call.
    case .open(let since): return subject.signedDate >= since - Campaign.windowLead
    case .ended(let result):
      guard case .applied(let date)? = ExtensionAnswer(result) else { return false }
      return date == nil || date == end
    }
  }
}
