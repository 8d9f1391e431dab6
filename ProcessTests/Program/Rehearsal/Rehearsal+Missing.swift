// Names what is missing if a rehearsal cannot go on, with the states in the ledgers.

import AppStore
import AppStoreSigning
import AppStoreSimulator
import KafkaClient
import MillraceRecords
import ScenarioRig

extension Rehearsal {
  /// The failures without an event, and the transactions whose row in the table is wrong, each with its notifications
  /// and their ledger entries.
  func missing(_ observer: Observer) async -> [String] {
    let (ended, table) = (observer.ended, observer.table)
    let wrong = RunResult.differences(table, RefundWave.truth(environment.simulator))
    let notifications = environment.simulator.world.withState { state in
      state.realms[0].log.records.compactMap { record -> (id: String, subject: String, isFailure: Bool)? in
        guard case .purchase(let purchase, _, _) = record.facts.content else { return nil }
        let isFailure = record.facts.kind.type == .renewalExtension
        guard isFailure || RefundWave.types.contains(record.facts.kind.type) else { return nil }
        return (record.facts.uuid.text, isFailure ? "\(purchase.originalId)" : "\(purchase.id)", isFailure)
      }
    }
    do {
      let extensions = try await ledger(of: "renewal-extensions")
      let refunds = try await ledger(of: "refunds")
      let failures = notifications.filter { $0.isFailure && !ended.contains($0.subject) }.map {
        "missing: \($0.subject) has no event; the ledger says \(extensions.state(of: $0.id).rawValue) of \($0.id)"
      }
      let rows = wrong.flatMap { difference in
        [difference]
          + notifications.filter { !$0.isFailure && difference.contains($0.subject) }.map {
            "  the ledger says \(refunds.state(of: $0.id).rawValue) of its notification \($0.id)"
          }
      }
      return faultLines(failures + rows, upTo: 40) { $0 }
    } catch {
      return ["could not read the ledgers: \(error)"]
    }
  }

  /// The entries of a worker's ledger.
  private func ledger(of worker: String) async throws -> Findings {
    var findings = Findings()
    let topic = "\(environment.deployment.prefix)millrace.\(worker).ledger"
    for record in try await environment.deployment.log.everything(in: [topic]) { findings.takeLedger(record) }
    return findings
  }
}
