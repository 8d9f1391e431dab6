// Counts records by the minute. A value: time is a parameter.

internal import AppStore
internal import MillraceRecords

/// Counts of the last hour's records by outcome, place and label.
struct FlowTable: Sendable {
  /// The kind of a counted record.
  enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// The ingress accepted a notification.
    case received
    /// The ingress refused a body and quarantined it.
    case quarantined
    /// A worker published an event.
    case event
    /// A worker wrote a record to a retry topic.
    case delayed
    /// A record was written to a replay topic.
    case replayed
    /// A worker gave up on a record.
    case dead
  }

  /// The fields that distinguish counts.
  struct Key: Sendable, Hashable {
    var outcome: Outcome
    /// The family, or the worker.
    var place: String
    /// The notification's type, the event's name or the reason.
    var label: String
  }

  /// One row of the page.
  struct Row: Sendable, Hashable {
    var key: Key
    /// Counts of the last 60 minutes, the present minute last.
    var minutes: [Int]

    func total(ofLast count: Int) -> Int { minutes.suffix(count).reduce(0, +) }

    /// Whether it counts notifications of a type that this version does not know.
    var isOfUnknownType: Bool {
      guard key.outcome == .received, key.place == NotificationFamily.unrecognized.rawValue else { return false }
      let type = String(key.label.prefix { $0 != "/" })
      return !NotificationTypeV2(rawValue: type).isKnown && !NotificationTypeV1(rawValue: type).isKnown
    }
  }

  static let span = 60
  /// The largest number of distinct keys, because their names come from untrusted records. Further keys count as
  /// `other`.
  static let maximumKeys = 400

  private var counts: [Key: [Int64: Int]] = [:]
  /// The minute in which old counts were last removed.
  private var prunedAt = Int64.min

  mutating func count(_ key: Key, at time: Timestamp, now: Timestamp) {
    let (minute, present) = (Self.minute(time), Self.minute(now))
    guard minute > present - Int64(Self.span), minute <= present + 1 else { return }
    if present != prunedAt { prune(present) }
    var key = key
    if counts[key] == nil, counts.count >= Self.maximumKeys {
      key = Key(outcome: key.outcome, place: "other", label: "other")
    }
    counts[key, default: [:]][min(minute, present), default: 0] += 1
  }

  /// Removes counts that are older than an hour.
  private mutating func prune(_ present: Int64) {
    prunedAt = present
    let oldest = present - Int64(Self.span)
    counts = counts.compactMapValues { minutes in
      let kept = minutes.filter { $0.key > oldest }
      return kept.isEmpty ? nil : kept
    }
  }

  /// Returns the rows by outcome, and within an outcome by the last hour's count in descending order.
  func rows(now: Timestamp) -> [Row] {
    let present = Self.minute(now)
    return counts.map { key, minutes in
      Row(key: key, minutes: (0..<Self.span).map { minutes[present - Int64(Self.span - 1 - $0)] ?? 0 })
    }
    .filter { $0.total(ofLast: Self.span) > 0 }
    .sorted { left, right in
      let order = (
        Outcome.allCases.firstIndex(of: left.key.outcome) ?? 0, Outcome.allCases.firstIndex(of: right.key.outcome) ?? 0
      )
      if order.0 != order.1 { return order.0 < order.1 }
      let totals = (left.total(ofLast: Self.span), right.total(ofLast: Self.span))
      if totals.0 != totals.1 { return totals.0 > totals.1 }
      return (left.key.place, left.key.label) < (right.key.place, right.key.label)
    }
  }

  private static func minute(_ time: Timestamp) -> Int64 { time.millisecondsSince1970 / 60_000 }
}
