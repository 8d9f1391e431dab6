// Workers whose input is the events of other workers instead of Apple's notifications.

package import MillraceRecords

/// A worker that reads topics of events.
///
/// Everything else is as for a worker of notifications: lanes, retry topics, ledger, dead letters, replay and erasure.
/// Its ``WorkerIdentity`` names the topics and no families. See docs/adr/0049-webhooks-are-workers-of-events.md.
package protocol EventWorker: NotificationWorker {
  /// Processes one event; otherwise like ``NotificationWorker/handle(_:in:)``.
  func handle(_ event: PublishedEvent, in context: HandlerContext) async throws -> Outcome
}

extension EventWorker {
  /// A worker of events reads no families.
  package static var families: Set<NotificationFamily> { [] }

  /// Gives up a notification. The runtime never calls this for a worker of events.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    .deadLetter("not-an-event", "the worker reads events, and the record is a notification")
  }
}
