// The id of a request: the same in every attempt, so that an endpoint can recognize a repetition.

internal import AppStore
internal import MillraceWorker

/// The `webhook-id` of a request.
package enum WebhookID {
  /// Returns the id: UUIDv5 of the worker, the kind of request and its occurrence.
  ///
  /// - Parameters:
  ///   - parts: The id of a notification; the key, the name and the time of a timer or a call.
  ///   - run: The replay run with `--reapply`; nil for any other request.
  package static func of(
    worker: String, _ kind: HandlerRequest.Kind, _ parts: [String], run: String?
  ) -> String {
    NameBasedUUID.text(of: ["http-worker", worker, kind.rawValue] + parts + (run.map { ["reapply", $0] } ?? []))
  }
}
