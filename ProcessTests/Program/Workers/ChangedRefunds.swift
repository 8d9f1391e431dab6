// Another release of the refunds worker, for the replay in a rehearsal: it names partial refunds differently and is
// otherwise the same.

import MillraceWorker
import Refunds

struct ChangedRefunds: ScenarioWorker {
  static let subcommand = "changed-refunds"
  static let abstract = "Runs a release of refunds whose events differ."
  static let name = RefundsWorker.name
  static let families = RefundsWorker.families
  static let outputTopics = RefundsWorker.outputTopics

  private let worker: RefundsWorker

  init(_ setup: WorkerSetup) { worker = RefundsWorker(setup) }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let outcome = try await worker.handle(notification, in: context)
    guard case .done(var results) = outcome.decision else { return outcome }
    for index in results.events.indices {
      let text = String(decoding: results.events[index].data, as: UTF8.self)
      results.events[index].data = Array(text.replacing(#""type":"prorated""#, with: #""type":"partial""#).utf8)
    }
    return .done(results)
  }
}
