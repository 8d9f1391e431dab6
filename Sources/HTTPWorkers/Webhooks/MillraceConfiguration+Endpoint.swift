// The endpoint of a worker in the configuration: the `handler` of an HTTP worker, the `settings` of a webhook.

package import MillraceCore

extension MillraceConfiguration {
  /// Returns the endpoint of a worker; nil if it has none.
  package func endpoint(of worker: String) throws(MillraceError) -> HandlerSettings? {
    guard let entry = workers[worker] else { return nil }
    guard WebhookWorker.runs(as: worker) else { return entry.isHTTPWorker ? entry.handler : nil }
    return try settings(WebhookSettings.self, of: worker).handler
  }
}

extension Endpoint {
  /// Returns the section of the configuration that describes a worker's endpoint, for errors.
  static func place(of worker: String) -> String {
    "workers.\(worker)." + (WebhookWorker.runs(as: worker) ? "settings" : "handler")
  }
}
