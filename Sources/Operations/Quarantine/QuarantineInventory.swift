// The distinct bodies in the quarantine. Bodies are not kept in memory, because the topic may be larger.

internal import AppStore
package import KafkaClient

/// The content of the quarantine, without the bodies.
package struct QuarantineInventory: Sendable, Hashable {
  private var byID: [String: QuarantineEntry] = [:]
  /// The number of records in the topic that the ingress did not write.
  package private(set) var foreignCount = 0
  /// The number of older offsets that were not read.
  package var olderOffsets: Int64 = 0

  /// An empty inventory.
  package init() {}

  /// Adds a record.
  package mutating func add(_ record: ConsumerRecord) {
    guard let entry = QuarantineEntry(record) else {
      foreignCount += 1
      return
    }
    add(entry)
  }

  /// Adds a copy of a body.
  mutating func add(_ entry: QuarantineEntry) {
    if byID[entry.id]?.add(entry) == nil { byID[entry.id] = entry }
  }

  /// The body with a full ID.
  package subscript(id: String) -> QuarantineEntry? { byID[id] }

  /// The bodies, ordered by their last receipt.
  package var entries: [QuarantineEntry] {
    byID.values.sorted { left, right in
      let (leftTime, rightTime) = (
        left.lastSeen?.millisecondsSince1970 ?? 0, right.lastSeen?.millisecondsSince1970 ?? 0
      )
      return (leftTime, left.id) < (rightTime, right.id)
    }
  }

  /// The IDs that match those on the command line.
  ///
  /// - Parameter ids: Full IDs, or prefixes of at least eight characters; nil for all.
  /// - Throws: ``OperationError`` that names `--id` and a value that matches no body, or several.
  package func ids(matching ids: [String]?) throws(OperationError) -> Set<String> {
    guard let ids else { return Set(byID.keys) }
    var found: Set<String> = []
    for id in ids {
      let wanted = id.lowercased()
      let isLong = wanted.utf8.count >= QuarantineEntry.shownDigits / 2
      let matches = isLong ? byID.keys.filter { $0.hasPrefix(wanted) } : []
      guard let match = matches.first, matches.count == 1 else {
        let what =
          !isLong
          ? "\(id) is too short" : matches.isEmpty ? "no id begins with \(id)" : "\(matches.count) ids begin with \(id)"
        throw OperationError(
          .usage, what, at: "--id",
          remedy: "copy at least \(QuarantineEntry.shownDigits / 2) characters of an id from millrace quarantine list")
      }
      found.insert(match)
    }
    return found
  }
}
