// What became of the records of a run. Each lane counts it in its ledger, in the commit that ends a record.

package import AppStore
package import MillraceRecords

/// The records of a run, by how they ended.
package struct RunOutcome: Sendable, Hashable {
  /// How a record ended.
  package enum Ending: String, Sendable, Hashable, CaseIterable {
    /// The handler did not run: the notification is handled, delayed or dead, or its customer was erased.
    case skipped
    /// The handler ran again, with the same outcome.
    case unchanged
    /// The handler ran again, with another outcome. Its events supersede the earlier ones.
    case superseded
    /// The handler ran, and the ledger did not know the notification.
    case new
    /// The record is a dead letter.
    case dead
    /// In a dry run: the handler asked for an effect or a call that has no recorded result.
    case wouldCall
  }

  /// The number of records by ending.
  package var records: [Ending: Int64] = [:]
  /// The number of events that the handlers' outcomes published.
  package var events: Int64 = 0

  package init() {}

  /// The number of records with an ending.
  package subscript(ending: Ending) -> Int64 { records[ending] ?? 0 }

  /// The number of records that have not ended: they are not handled yet, or wait for a retry. Without transactions a
  /// crash can count a record twice.
  /// - Parameter sent: The number of records that the run has sent.
  package func waiting(of sent: Int64) -> Int64 { max(0, sent - records.values.reduce(0, +)) }

  /// Reads what became of the records of a run from the ledgers of its worker.
  /// - Throws: `KafkaError`; `MillraceError` for a ledger that this version cannot read.
  package static func read(_ run: String, _ topics: WorkerTopics, in log: any RecordLog) async throws -> RunOutcome {
    let tally = try await LedgerTally.read(topics, in: log, prefixes: [counter(of: run, "")])
    var outcome = RunOutcome()
    for ending in Ending.allCases { outcome.records[ending] = tally.counters[counter(of: run, ending.rawValue)] }
    outcome.events = tally.counters[counter(of: run, eventsName)] ?? 0
    return outcome
  }

  // MARK: - Counters

  private static let prefix = LedgerIdentity.reserved + "run/"
  private static let eventsName = "events"

  private static func counter(of run: String, _ what: String) -> String { "\(prefix)\(run)/\(what)" }

  /// Whether a counter belongs to a run.
  static func isCounter(_ name: String) -> Bool { name.hasPrefix(prefix) }

  /// Returns the amounts to add to a lane's counters when a record ends.
  static func counts(of run: String, _ ending: Ending, events: Int = 0) -> [String: Int64] {
    var counts = [counter(of: run, ending.rawValue): Int64(1)]
    if events > 0 { counts[counter(of: run, eventsName)] = Int64(events) }
    return counts
  }
}

extension RunOutcome {
  /// The counts as JSON, with the records that have not ended.
  package func json(of sent: Int64) -> JSONObject {
    [
      "records": .integer(sent), "skipped": .integer(self[.skipped]), "unchanged": .integer(self[.unchanged]),
      "superseded": .integer(self[.superseded]), "new": .integer(self[.new]), "events": .integer(events),
      "deadLetters": .integer(self[.dead]), "waiting": .integer(waiting(of: sent)),
    ]
  }
}

extension OutcomePlan {
  /// How the record ended for the run that sent it; nil if it has not ended.
  /// - Parameter digest: The digest of the outcome that this one replaces, or nil if there is none.
  func runEnding(replacing digest: UInt32?, isDryRun: Bool) -> RunOutcome.Ending? {
    switch ending {
    case .done: digest == nil ? .new : isUnchanged(replacing: digest) ? .unchanged : .superseded
    case .dead(DryRunHandler.reason) where isDryRun: .wouldCall
    case .dead: .dead
    case .delayed, .again, .undeclared: nil
    }
  }
}
