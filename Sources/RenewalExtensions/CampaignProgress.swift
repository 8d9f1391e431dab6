// How far a campaign is, from what the worker's lanes counted and caused.

public import Millrace

/// What is known of a campaign's subscriptions.
public struct CampaignProgress: Sendable, Hashable {
  /// RENEWAL_EXTENDED that belong to this campaign alone and answer no call of ours.
  public var extended: Int64 = 0
  /// The same of family members. They are told of when a retry extends their purchaser as well, and name another
  /// subscription than the purchaser's: whose doing they are nobody can tell.
  public var shared: Int64 = 0
  /// RENEWAL_EXTENDED that may belong to this campaign or to another.
  public var ambiguous: Int64 = 0
  /// Failures that a retry extended.
  public var applied: Int64 = 0
  /// Failures that Apple refused for good, by reason.
  public var refused: [ExtensionAnswer.Reason: Int64] = [:]
  /// Failures of which nobody knows whether a retry extended them.
  public var unclear: Int64 = 0
  /// Failures that were not retried because the campaign's retries were cancelled.
  public var withheld: Int64 = 0
  /// Failures whose retry has begun and not ended. What waits for its first turn at Apple has not begun.
  public var waiting: Int64 = 0

  /// Nothing is known.
  public init() {}

  /// Failures that were taken up.
  public var failures: Int64 { applied + refused.values.reduce(0, +) + unclear + withheld + waiting }

  /// The progress of a campaign.
  /// - Parameter tally: Read with ``prefixes(of:)``.
  public init(_ tally: LedgerTally, of campaign: String) {
    extended = tally.counters[Self.extended(campaign)] ?? 0
    shared = tally.counters[Self.shared(campaign)] ?? 0
    ambiguous = tally.counters[Self.ambiguous(campaign)] ?? 0
    withheld = tally.counters[Self.withheld(campaign)] ?? 0
    let effects = ExtensionRequest.effects(of: campaign)
    for (name, standing) in tally.effects where name.hasPrefix(effects) {
      guard case .ended(let result) = standing else {
        waiting += 1
        continue
      }
      switch ExtensionAnswer(result) {
      case .applied?: applied += 1
      case .refused(let refusal)?: refused[refusal.reason, default: 0] += 1
      case .unclear?, nil: unclear += 1
      }
    }
  }

  /// What has to be read of the ledgers.
  public static func prefixes(of campaign: String) -> [String] {
    [ExtensionRequest.effects(of: campaign), "campaign/\(campaign)/"]
  }

  /// Whether we have seen what Apple counted, with family members or without: Apple documents neither.
  public func agrees(with completion: Campaign.Completion) -> Bool {
    (extended...extended + shared).contains(completion.succeeded) && failures == completion.failed
  }

  /// Failures whose retry has not ended: once Apple has counted its failures, those among them that have not begun as
  /// well.
  public func left(_ completion: Campaign.Completion?) -> Int64 {
    max(waiting, (completion?.failed ?? 0) - (failures - waiting))
  }
}

// Names of counters.
extension CampaignProgress {
  static func extended(_ campaign: String) -> String { "campaign/\(campaign)/extended" }
  static func shared(_ campaign: String) -> String { "campaign/\(campaign)/shared" }
  static func ambiguous(_ campaign: String) -> String { "campaign/\(campaign)/ambiguous" }
  static func withheld(_ campaign: String) -> String { "campaign/\(campaign)/withheld" }
}
