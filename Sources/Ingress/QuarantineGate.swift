// Decides which refused bodies to copy: each at most once an hour, and a limited number per minute. A value: time is a
// parameter.

internal import MillraceRecords

/// Decides about copies separately for each partition of the quarantine, so that neither can use up the other's
/// allowance or memory.
struct QuarantineGate: Sendable, Hashable {
  enum Decision: Sendable, Hashable {
    case copy
    /// A recent copy exists.
    case alreadyKept
    /// The allowance for this minute is used up.
    case overAllowance
  }

  private struct Share: Sendable, Hashable {
    var allowance: QuarantineAllowance
    var recent = RecentCopies()
  }

  private var genuine: Share
  private var unverified: Share

  init(perMinute: Int, at now: Duration) {
    genuine = Share(allowance: QuarantineAllowance(perMinute: perMinute, at: now))
    unverified = genuine
  }

  /// Decides about a body, and remembers it if the decision is to copy.
  mutating func decide(
    _ id: String, size: Int, for partition: QuarantineRecord.Partition, at now: Duration
  ) -> Decision {
    with(partition) { share in
      if share.recent.contains(id, at: now) { return .alreadyKept }
      guard share.allowance.spend(size: size, at: now) else { return .overAllowance }
      share.recent.insert(id, at: now)
      return .copy
    }
  }

  /// Forgets a body because its copy could not be written.
  mutating func forget(_ id: String, in partition: QuarantineRecord.Partition) {
    with(partition) { $0.recent.remove(id) }
  }

  private mutating func with<Value>(
    _ partition: QuarantineRecord.Partition, _ body: (inout Share) -> Value
  ) -> Value {
    switch partition {
    case .genuine: body(&genuine)
    case .unverified: body(&unverified)
    }
  }
}

/// The ids of recently copied bodies, to avoid copying repetitions. Apple sends a body up to six times; other clients
/// can repeat it endlessly.
struct RecentCopies: Sendable, Hashable {
  /// How long an id is remembered. The topic's retention is limited, too.
  static let lifetime = Duration.seconds(3600)
  /// The largest number of ids, which take about a megabyte of memory.
  static let capacity = 4096

  private var keptAt: [String: Duration] = [:]
  /// The ids in order of insertion, as a ring buffer when full.
  private var ring: [String] = []
  private var oldest = 0

  func contains(_ id: String, at now: Duration) -> Bool {
    guard let kept = keptAt[id] else { return false }
    return now - kept < Self.lifetime
  }

  mutating func insert(_ id: String, at now: Duration) {
    guard keptAt.updateValue(now, forKey: id) == nil else { return }
    guard ring.count == Self.capacity else {
      ring.append(id)
      return
    }
    keptAt[ring[oldest]] = nil
    ring[oldest] = id
    oldest = (oldest + 1) % Self.capacity
  }

  mutating func remove(_ id: String) { keptAt[id] = nil }
}
