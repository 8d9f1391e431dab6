// The progress of a campaign, from the counters and effects in the worker's ledger.

package import MillraceWorker

/// Counts of a campaign's subscriptions.
package struct CampaignProgress: Sendable, Hashable {
  /// RENEWAL_EXTENDED notifications that match only this campaign and no call of the worker.
  package var extended: Int64 = 0
  /// The same for family members. Apple also sends these when a retry extends the purchaser, and they name another
  /// subscription than the purchaser's, so their cause is unknown.
  package var shared: Int64 = 0
  /// RENEWAL_EXTENDED notifications that match this campaign and others.
  package var ambiguous: Int64 = 0
  /// Failures that a retry extended.
  package var applied: Int64 = 0
  /// Failures whose retry Apple refused for good, by reason.
  package var refused: [ExtensionAnswer.Reason: Int64] = [:]
  /// Failures for which it is unknown whether a retry extended the subscription.
  package var unclear: Int64 = 0
  /// Failures that were not retried because an operator had cancelled the retries.
  package var withheld: Int64 = 0
  /// Failures whose retry has started but not ended. A retry that waits for its first rate-limit slot has not started.
  package var waiting: Int64 = 0

  /// Failures that the worker has handled or started to handle.
  package var failures: Int64 { applied + refused.values.reduce(0, +) + unclear + withheld + waiting }

  /// Creates the progress of a campaign.
  /// - Parameter tally: The ledger entries for ``prefixes(of:)``.
  package init(_ tally: LedgerTally, of campaign: String) {
    extended = tally.counters[Self.extended(campaign)] ?? 0
    shared = tally.counters[Self.shared(campaign)] ?? 0
    ambiguous = tally.counters[Self.ambiguous(campaign)] ?? 0
    withheld = tally.counters[Self.withheld(campaign)] ?? 0
    let effects = ExtensionRequest.effects(of: campaign)
    for (name, status) in tally.effects where name.hasPrefix(effects) {
      guard case .ended(let result) = status else {
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

  /// Returns the prefixes of the ledger entries to read.
  package static func prefixes(of campaign: String) -> [String] {
    [ExtensionRequest.effects(of: campaign), "campaign/\(campaign)/"]
  }

  /// Failures whose retry has begun.
  package var begun: Int64 { failures - withheld }

  /// Whether the counts agree with Apple's, with or without family members. Apple does not document which it counts.
  /// - Parameter isAdopted: Whether the campaign was adopted. Extensions that Apple reported before are not counted.
  package func agrees(with completion: Campaign.Completion, isAdopted: Bool = false) -> Bool {
    extended <= completion.succeeded && (isAdopted || completion.succeeded <= extended + shared)
      && failures == completion.failed
  }

  /// Returns the number of failures whose retry has not ended. With Apple's count, this includes retries that have not
  /// started.
  package func left(_ completion: Campaign.Completion?) -> Int64 {
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
