// What is written, counted by the minute. A value: time is a parameter.

internal import AppStore

/// Records of the last hour by where they went and what they are.
struct FlowTable: Sendable {
  /// What a record means to an operator.
  enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// A notification came in.
    case received
    /// The ingress refused a body and kept it.
    case quarantined
    /// A worker said something.
    case event
    /// A worker put a record aside until later.
    case parked
    /// An operator sent a record again.
    case replayed
    /// A worker gave a record up.
    case dead
  }

  /// What is counted apart.
  struct Key: Sendable, Hashable {
    var outcome: Outcome
    /// The family, or the worker.
    var place: String
    /// The notification's type, the event's name, the reason.
    var label: String
  }

  /// One row of the page.
  struct Row: Sendable, Hashable {
    var key: Key
    /// Counts of the last sixty minutes, the present one last.
    var minutes: [Int]

    func total(ofLast count: Int) -> Int { minutes.suffix(count).reduce(0, +) }
  }

  static let span = 60
  /// Names come from records, and records are data of others: beyond so many the rest counts as one.
  static let maximumKeys = 400

  private var counts: [Key: [Int64: Int]] = [:]

  /// Counts one record.
  mutating func count(_ key: Key, at time: Timestamp, now: Timestamp) {
    let (minute, present) = (Self.minute(time), Self.minute(now))
    guard minute > present - Int64(Self.span), minute <= present + 1 else { return }
    var key = key
    if counts[key] == nil, counts.count >= Self.maximumKeys {
      key = Key(outcome: key.outcome, place: "other", label: "other")
    }
    counts[key, default: [:]][min(minute, present), default: 0] += 1
  }

  /// Forgets what is older than an hour.
  mutating func prune(now: Timestamp) {
    let oldest = Self.minute(now) - Int64(Self.span)
    counts = counts.compactMapValues { minutes in
      let kept = minutes.filter { $0.key > oldest }
      return kept.isEmpty ? nil : kept
    }
  }

  /// Rows, those with most in the last hour first within an outcome.
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
