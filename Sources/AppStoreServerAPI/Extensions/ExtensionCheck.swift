// Determines from the subscription's present state whether an extension whose response was lost took effect. This is
// impossible if another party extended it meanwhile, or if the extension is one day and the renewal may be a day early.
// Then nothing is sent.

package import AppStore

/// The outcome of an extension, derived from the subscription.
package enum ExtensionCheck: Sendable, Hashable {
  /// The extension took effect, with the end of the period if it is the same period.
  case applied(Timestamp?)
  /// The extension did not take effect, so the same request may be sent again.
  case notApplied
  /// The outcome cannot be determined. Holds the reason.
  case cannotTell(String)

  /// How long the same request is sent again without asking Apple first. Within this time, Apple recognizes the
  /// `requestIdentifier` of a success.
  package static let blindTime = Duration.seconds(3_600)

  /// Apple renews up to a day before the period ends.
  static let renewalLead = Duration.seconds(86_400)
  /// The largest difference between the lengths of two months.
  static let monthSlack = Duration.seconds(3 * 86_400)
  /// Periods of at least this length are counted in months.
  static let shortestMonth = Duration.seconds(27 * 86_400)
  /// The tolerance when comparing times.
  static let slack = Duration.seconds(3_600)

  /// Compares the subscription before and after the request.
  ///
  /// - Parameters:
  ///   - before: The subscription's transaction, signed before the request.
  ///   - present: The subscription's newest transaction; nil if Apple returns none.
  ///   - days: The requested number of days.
  package static func judge(
    before: JWSTransactionDecodedPayload, present: JWSTransactionDecodedPayload?, days: Int
  ) -> ExtensionCheck {
    guard let oldEnd = before.expiresDate, let oldID = before.transactionId else {
      return .cannotTell("the period before the request is unknown")
    }
    guard let present, let end = present.expiresDate, let id = present.transactionId else {
      return .cannotTell("Apple returned no period of the subscription")
    }
    let shift = Duration.seconds(86_400 * days)
    if id == oldID {
      let moved = end - oldEnd
      if isNear(moved, .zero) { return .notApplied }
      if isNear(moved, shift) { return .applied(end) }
      return .cannotTell("the period's end moved, but not by the requested \(days) days")
    }
    guard let begin = present.purchaseDate else { return .cannotTell("the present period has no start date") }
    // The next period begins at the end of the last one, or up to a day before.
    let isPlain = isRenewal(begin, of: oldEnd)
    let isShifted = isRenewal(begin, of: oldEnd + shift)
    // It may have renewed more than once. Use both period lengths, because one of the periods may have been extended.
    let lengths = [before.purchaseDate.map { oldEnd - $0 }, end - begin].compactMap(\.self)
    if isShifted, lengths.contains(where: { isLaterRenewal(begin, of: oldEnd, every: $0) }) {
      return .cannotTell(
        "the subscription has renewed since, perhaps more than once, and its dates match both outcomes")
    }
    switch (isPlain, isShifted) {
    case (true, false): return .notApplied
    case (false, true): return .applied(nil)
    default: return .cannotTell("the subscription has renewed since, and its dates match both outcomes or neither")
    }
  }

  private static func isNear(_ one: Duration, _ other: Duration) -> Bool {
    one - other <= slack && other - one <= slack
  }

  private static func isRenewal(_ begin: Timestamp, of end: Timestamp) -> Bool {
    begin >= end - renewalLead - slack && begin <= end + slack
  }

  /// Whether a period may begin at `begin` after one or more unextended periods that followed `end`.
  private static func isLaterRenewal(_ begin: Timestamp, of end: Timestamp, every length: Duration) -> Bool {
    guard length > .zero else { return false }
    let spread = length >= shortestMonth ? monthSlack : .zero
    let gap = begin - end
    // The smallest possible number of periods gives the earliest start.
    let number = max(1, ((gap - slack) / (length + spread)).rounded(.up))
    return gap >= (length - spread) * number - renewalLead - slack
  }
}

extension AppStoreServerClient {
  /// Asks Apple whether an extension whose response was lost took effect.
  ///
  /// - Parameters:
  ///   - original: The subscription.
  ///   - before: Its transaction, signed before the request.
  ///   - days: The requested number of days.
  package func checkExtension(
    of original: String, before: JWSTransactionDecodedPayload, days: Int, in environment: AppStoreEnvironment
  ) async throws(APIError) -> ExtensionCheck {
    .judge(before: before, present: try await newestTransaction(of: original, in: environment), days: days)
  }

  /// Returns the newest transaction of a subscription; nil if Apple returns none.
  package func newestTransaction(
    of original: String, in environment: AppStoreEnvironment
  ) async throws(APIError) -> JWSTransactionDecodedPayload? {
    try await getAllSubscriptionStatuses(original, in: environment).value.flatMap(\.subscriptions)
      .first { $0.originalTransactionId == original }?.transaction?.payload
  }
}
