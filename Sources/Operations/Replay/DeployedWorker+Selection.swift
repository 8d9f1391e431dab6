// The topics of a replay to a worker whose topics are known.

internal import AppStore
internal import MillraceCore
package import MillraceRecords

extension DeployedWorker {
  /// Selects the worker's topics if a selection names none. Does nothing for a worker whose topics only its code names.
  /// - Throws: ``OperationError`` for a topic of notifications that the worker does not read: its handler would get
  ///   notifications that it never gets otherwise. Copies of notifications in other topics may be replayed.
  package func complete(_ selection: inout RecordSelection) throws(OperationError) {
    guard let inputs else { return }
    if selection.topics.isEmpty, selection.from == nil, selection.to == nil { selection.topics = inputs }
    let families = Set(NotificationFamily.all.map(\.topic))
    for topic in selection.topics where !inputs.contains(topic) {
      guard families.contains(where: topic.hasSuffix) else { continue }
      throw OperationError(
        .usage, "the worker \(name) does not read \(topic)", at: "--topic or --family",
        remedy: "choose from \(inputs.joined(separator: ", ")), or omit the flag for all of them")
    }
  }
}
