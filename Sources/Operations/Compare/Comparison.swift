// Compares the notifications of a receiver with those in the topics. Pure.

/// The differences between two lists of notifications.
package struct Comparison: Sendable, Hashable {
  /// A notification in a topic.
  package struct Kept: Sendable, Hashable {
    /// `ce_id`.
    package var id: String
    /// The record's key.
    package var key: String
    /// The family's topic. Records of one key are ordered within it.
    package var topic: String
    /// The notification type as Apple writes it.
    package var type: String
    /// The record's value.
    package var bytes: [UInt8]

    /// Creates a notification.
    package init(id: String, key: String, topic: String, type: String, bytes: [UInt8]) {
      self.id = id
      self.key = key
      self.topic = topic
      self.type = type
      self.bytes = bytes
    }
  }

  /// A difference in one notification.
  package struct Difference: Sendable, Hashable {
    /// The kind of difference.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      /// In the topics, but not at the receiver.
      case missing
      /// At the receiver, but not in the topics.
      case unknown
      /// In both, with different bytes.
      case bytes
      /// The receiver got it before one that precedes it in the topics under the same key.
      case order
    }

    /// The kind of difference.
    package var kind: Kind
    /// The notification's ID.
    package var id: String
    /// The notification in the topics; nil if it is not there.
    package var kept: Kept?
  }

  /// The number of distinct notifications in the topics.
  package private(set) var kept = 0
  /// The number of distinct notifications at the receiver.
  package private(set) var received = 0
  /// The number of duplicates at the receiver.
  package private(set) var repetitions = 0
  /// The differences: first those in the topics' order, missing ones first; then unknown ones in the receiver's order.
  package private(set) var differences: [Difference] = []

  /// Whether there are no differences.
  package var isEqual: Bool { differences.isEmpty }

  /// Compares two lists, each in its own order. A duplicate in the topics counts once, at its first position.
  package init(topics: [Kept], receiver: [ReceivedNotification]) {
    var place: [String: Int] = [:]
    var bytes: [String: [UInt8]] = [:]
    for (index, notification) in receiver.enumerated() {
      if place[notification.id] == nil { place[notification.id] = index } else { repetitions += 1 }
      if let own = notification.bytes, bytes[notification.id] == nil { bytes[notification.id] = own }
    }
    var seen: Set<String> = []
    var last: [String: Int] = [:]
    var found: [Difference.Kind: [Difference]] = [:]
    for notification in topics where seen.insert(notification.id).inserted {
      func note(_ kind: Difference.Kind) {
        found[kind, default: []].append(Difference(kind: kind, id: notification.id, kept: notification))
      }
      guard let index = place[notification.id] else {
        note(.missing)
        continue
      }
      if let own = bytes[notification.id], own != notification.bytes { note(.bytes) }
      let line = "\(notification.topic)/\(notification.key)"
      if let before = last[line], index < before { note(.order) }
      last[line] = max(index, last[line] ?? index)
    }
    for notification in receiver where seen.insert(notification.id).inserted {
      found[.unknown, default: []].append(Difference(kind: .unknown, id: notification.id, kept: nil))
    }
    received = place.count
    kept = seen.count - (found[.unknown]?.count ?? 0)
    differences = Difference.Kind.allCases.flatMap { found[$0] ?? [] }
  }

  /// The result as one sentence.
  package var summary: String {
    let parts = Difference.Kind.allCases.map { kind in
      let count = differences.filter { $0.kind == kind }.count
      return switch kind {
      case .missing: "\(count) missing at the receiver"
      case .unknown: "\(count) unknown to the topics"
      case .bytes: "\(count) with different bytes"
      case .order: "\(count) out of order"
      }
    }
    return "\(HumanText.count(kept, "notification")) in the topics, \(received) at the receiver"
      + " (\(HumanText.count(repetitions, "repetition"))): " + parts.joined(separator: ", ")
  }

  /// One line per difference: kind, ID, type and topic, separated by tabs.
  package var lines: [String] {
    differences.map { difference in
      [difference.kind.rawValue, difference.id, difference.kept?.type ?? "", difference.kept?.topic ?? ""]
        .joined(separator: "\t")
    }
  }
}
