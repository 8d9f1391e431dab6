// Another release of the refunds worker, for the replay in a rehearsal: it names partial refunds differently and is
// otherwise the same.

import Millrace
import Refunds

@main struct RehearseRefunds: NotificationWorker {
  static let name = RefundsWorker.name
  static let families = RefundsWorker.families
  static let tables = RefundsWorker.tables

  private let worker: RefundsWorker

  init(_ setup: WorkerSetup) { worker = RefundsWorker(setup) }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    var outcome = try await worker.handle(notification, in: context)
    for index in outcome.events.indices {
      let text = String(decoding: outcome.events[index].data, as: UTF8.self)
      outcome.events[index].data = Array(text.replacing(#""type":"prorated""#, with: #""type":"partial""#).utf8)
    }
    return outcome
  }
}
