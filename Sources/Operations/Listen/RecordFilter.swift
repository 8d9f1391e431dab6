// The records that `millrace listen` shows, by their decoded fields.

internal import AppStore
package import MillraceCore

/// A selection of records of any topic. An empty list does not restrict it.
package struct RecordFilter: Sendable, Hashable {
  /// `--type`: notification types as Apple writes them, and names of events.
  package var types: [String] = []
  /// `--key`: keys of records, usually original transactions.
  package var keys: [String] = []
  /// `--app`: bundle IDs.
  package var apps: [String] = []

  /// Selects every record.
  package init() {}

  /// Whether a record is selected.
  package func accepts(_ view: RecordView) -> Bool {
    func has(_ wanted: [String], _ values: String?...) -> Bool {
      wanted.isEmpty || values.contains { $0.map(wanted.contains) ?? false }
    }
    return has(types, view.type) && has(apps, view.bundleId)
      && has(keys, view.key, view.subject, view.originalTransactionId)
  }

  /// Checks the values of `--type`. A worker of one's own may publish events of any name.
  /// - Throws: ``OperationError`` for a name that is neither a notification type nor an event.
  package func check(in configuration: MillraceConfiguration) throws(OperationError) {
    let events = Set(KnownNames.events.values.joined()).union([KnownNames.erasure])
    let hasOwn = configuration.workerNames.contains { name in
      KnownNames.events[name] == nil && !["forward-", WorkerEntry.webhookPrefix].contains { name.hasPrefix($0) }
    }
    let known = Set(KnownNames.notificationTypes).union(events)
    for type in types where !known.contains(type) && !(hasOwn && type.contains(".")) {
      throw OperationError(
        .usage, "there is no notification type or event \(type)", at: "--type",
        remedy: NearestName.of(type, among: known.sorted()).map { "did you mean \($0)?" }
          ?? "write a type as Apple does, such as REFUND, or an event, such as entitlement.revoked")
    }
  }

  /// Checks the values of `--app`.
  /// - Throws: ``OperationError`` if the configuration has apps, and none of this bundle ID.
  package func check(appsOf configuration: MillraceConfiguration) throws(OperationError) {
    let known = configuration.apps.map(\.bundleId)
    for app in apps where !known.isEmpty && !known.contains(app) {
      throw OperationError(
        .usage, "no configured app is named \(app)", at: "--app", remedy: NearestName.remedy(for: app, among: known))
    }
  }
}
