// What one receiver has against what the topics hold. Pure.

/// Two lists of notifications, compared.
public struct Comparison: Sendable, Hashable {
  /// A notification as a topic holds it.
  public struct Kept: Sendable, Hashable {
    /// `ce_id`.
    public var id: String
    /// What orders it.
    public var key: String
    /// The family's topic, inside which the order of a key is kept.
    public var topic: String
    /// Its type as Apple writes it.
    public var type: String
    /// The value.
    public var bytes: [UInt8]

    /// A notification.
    public init(id: String, key: String, topic: String, type: String, bytes: [UInt8]) {
      self.id = id
      self.key = key
      self.topic = topic
      self.type = type
      self.bytes = bytes
    }
  }

  /// How one notification differs.
  public struct Difference: Sendable, Hashable {
    /// What is different.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// In the topics, not at the receiver.
      case missing
      /// At the receiver, not in the topics.
      case unknown
      /// In both, with other bytes.
      case bytes
      /// The receiver had it before one that the topics hold earlier under the same key.
      case order
    }

    /// What is different.
    public var kind: Kind
    /// Which notification.
    public var id: String
    /// Its type and topic; nil where the topics do not have it.
    public var kept: Kept?
  }

  /// Distinct notifications in the topics.
  public private(set) var kept = 0
  /// Distinct notifications at the receiver.
  public private(set) var received = 0
  /// How often the receiver got what it had already.
  public private(set) var repetitions = 0
  /// What differs, missing ones first; in the order of the topics, unknown ones in that of the receiver.
  public private(set) var differences: [Difference] = []

  /// Whether nothing differs.
  public var isEqual: Bool { differences.isEmpty }

  /// Compares, each in its own order. A notification that stands in the topics twice counts once, at its first place.
  public init(topics: [Kept], receiver: [ReceivedNotification]) {
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

  /// One line for a person.
  public var summary: String {
    let parts = Difference.Kind.allCases.map { kind in
      let count = differences.filter { $0.kind == kind }.count
      return switch kind {
      case .missing: "\(count) missing at the receiver"
      case .unknown: "\(count) unknown to the topics"
      case .bytes: "\(count) with other bytes"
      case .order: "\(count) out of order"
      }
    }
    return "\(HumanText.count(kept, "notification")) in the topics, \(received) at the receiver"
      + " (\(HumanText.count(repetitions, "repetition"))): " + parts.joined(separator: ", ")
  }

  /// One line for each difference: kind, id, type, topic, with tabs between.
  public var lines: [String] {
    differences.map { difference in
      [difference.kind.rawValue, difference.id, difference.kept?.type ?? "", difference.kept?.topic ?? ""]
        .joined(separator: "\t")
    }
  }
}
