// Everything in the quarantine, each body once. Holds no bodies: the topic may be larger than memory.

internal import AppStore
public import Kafka

/// What the quarantine holds.
public struct QuarantineInventory: Sendable, Hashable {
  /// How many characters of an id the table shows, and `--id` needs at least half of.
  public static let shownDigits = 16

  private var byID: [String: QuarantineEntry] = [:]
  /// Records in the topic that the ingress did not write.
  public private(set) var foreignCount = 0

  /// Nothing.
  public init() {}

  /// Takes note of a record.
  public mutating func add(_ record: ConsumerRecord) {
    guard let entry = QuarantineEntry(record) else {
      foreignCount += 1
      return
    }
    if byID[entry.id]?.add(entry) == nil { byID[entry.id] = entry }
  }

  /// The bodies, those last received last.
  public var entries: [QuarantineEntry] {
    byID.values.sorted { left, right in
      let (leftTime, rightTime) = (
        left.lastSeen?.millisecondsSince1970 ?? 0, right.lastSeen?.millisecondsSince1970 ?? 0
      )
      return (leftTime, left.id) < (rightTime, right.id)
    }
  }

  /// The ids that a command line means.
  ///
  /// - Parameter ids: whole ids or the first eight or more characters of one; nil for all.
  /// - Throws: ``OperationError`` that names `--id` and the value that fits no body, or several.
  public func ids(matching ids: [String]?) throws(OperationError) -> Set<String> {
    guard let ids else { return Set(byID.keys) }
    var found: Set<String> = []
    for id in ids {
      let wanted = id.lowercased()
      let matches = wanted.utf8.count >= Self.shownDigits / 2 ? byID.keys.filter { $0.hasPrefix(wanted) } : []
      guard let match = matches.first, matches.count == 1 else {
        let what = matches.isEmpty ? "no body begins with \(id)" : "\(matches.count) bodies begin with \(id)"
        throw OperationError(
          .usage, what, at: "--id",
          remedy: "copy an id from millrace quarantine list, \(Self.shownDigits / 2) characters or more")
      }
      found.insert(match)
    }
    return found
  }
}
