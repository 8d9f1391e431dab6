// Whether an extension whose answer was lost took effect, told from the subscription as it is now. What was extended by
// somebody else meanwhile, or by a day where renewals come up to a day early, cannot be told: then nothing is sent.

public import AppStore

/// What the subscription says about an extension of unknown outcome.
public enum ExtensionCheck: Sendable, Hashable {
  /// It took effect: the period ends then, or ended.
  case applied(Timestamp?)
  /// It did not: the same request may be sent again.
  case notApplied
  /// Either may be; says why.
  case cannotTell(String)

  /// Apple renews up to a day before the period ends.
  static let renewalLead = Duration.seconds(86_400)
  /// How much two months can differ.
  static let monthSlack = Duration.seconds(3 * 86_400)
  /// Periods as long as that are months.
  static let shortestMonth = Duration.seconds(27 * 86_400)
  /// How far moments that mean the same may be apart.
  static let slack = Duration.seconds(3_600)

  /// Judges.
  ///
  /// - Parameters:
  ///   - before: The transaction in the failure's notification, signed before we asked for anything.
  ///   - present: The subscription's newest transaction; nil where Apple shows none.
  ///   - days: What was asked for.
  public static func judge(
    before: JWSTransactionDecodedPayload, present: JWSTransactionDecodedPayload?, days: Int
  ) -> ExtensionCheck {
    guard let oldEnd = before.expiresDate, let oldID = before.transactionId else {
      return .cannotTell("the failure's transaction names no period")
    }
    guard let present, let end = present.expiresDate, let id = present.transactionId else {
      return .cannotTell("Apple shows no period of the subscription")
    }
    let shift = Duration.seconds(86_400 * days)
    if id == oldID {
      let moved = end - oldEnd
      if isNear(moved, .zero) { return .notApplied }
      if isNear(moved, shift) { return .applied(end) }
      return .cannotTell("the period's end moved by another time than the \(days) days asked for")
    }
    guard let begin = present.purchaseDate else { return .cannotTell("the present period has no beginning") }
    // The next period begins where the last one ended, or up to a day before.
    let isPlain = isRenewal(begin, of: oldEnd)
    let isShifted = isRenewal(begin, of: oldEnd + shift)
    // It may have renewed more than once. How long its periods are is told by either, should the other have been extended.
    let lengths = [before.purchaseDate.map { oldEnd - $0 }, end - begin].compactMap(\.self)
    if isShifted, lengths.contains(where: { isLaterRenewal(begin, of: oldEnd, every: $0) }) {
      return .cannotTell("the subscription renewed since, perhaps more than once, and its dates fit both outcomes")
    }
    switch (isPlain, isShifted) {
    case (true, false): return .notApplied
    case (false, true): return .applied(nil)
    default: return .cannotTell("the subscription renewed since, and its dates fit both outcomes or neither")
    }
  }

  private static func isNear(_ one: Duration, _ other: Duration) -> Bool {
    one - other <= slack && other - one <= slack
  }

  private static func isRenewal(_ begin: Timestamp, of end: Timestamp) -> Bool {
    begin >= end - renewalLead - slack && begin <= end + slack
  }

  /// Whether a period may begin then after one plain period or several that followed `end`.
  private static func isLaterRenewal(_ begin: Timestamp, of end: Timestamp, every length: Duration) -> Bool {
    guard length > .zero else { return false }
    let spread = length >= shortestMonth ? monthSlack : .zero
    let gap = begin - end
    // Of the numbers of periods that reach so far the smallest begins first.
    let number = max(1, ((gap - slack) / (length + spread)).rounded(.up))
    return gap >= (length - spread) * number - renewalLead - slack
  }
}
