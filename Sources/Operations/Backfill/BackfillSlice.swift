// A run's time in parts, each fetched from its first page to its last, each with a checkpoint of its own. Values.

public import AppStore

/// What was done so far.
public struct BackfillCounts: Sendable, Hashable {
  /// Pages that Apple answered.
  public var pages = 0
  /// Notifications that are in their topics. Those of a slice that began anew count twice.
  public var published = 0
  /// Items that are no notification of Apple's for a configured app; they are in the quarantine.
  public var quarantined = 0
  /// Slices that began anew because Apple no longer took their page token.
  public var restarts = 0

  /// Nothing yet.
  public init() {}

  /// Both.
  public static func + (left: BackfillCounts, right: BackfillCounts) -> BackfillCounts {
    var sum = left
    sum.pages += right.pages
    sum.published += right.published
    sum.quarantined += right.quarantined
    sum.restarts += right.restarts
    return sum
  }

  init(json: JSONObject) {
    pages = json.value("pages") ?? 0
    published = json.value("published") ?? 0
    quarantined = json.value("quarantined") ?? 0
    restarts = json.value("restarts") ?? 0
  }

  /// Name and value of each.
  var members: [(String, Int)] {
    [("pages", pages), ("published", published), ("quarantined", quarantined), ("restarts", restarts)]
  }
}

/// Where a slice stands.
public struct BackfillMark: Sendable, Hashable {
  /// Asks for the next page; nil before the first.
  public var token: String?
  /// Whether the last page is in Kafka.
  public var isDone = false
  /// What was done of it.
  public var counts = BackfillCounts()

  /// Nothing yet.
  public init() {}
}

/// A part of a run's time in one history.
public struct BackfillSlice: Sendable, Hashable {
  /// Which of its run's.
  public var number: Int
  /// Whose history.
  public var target: BackfillTarget
  /// From when on.
  public var from: Timestamp
  /// Until when.
  public var to: Timestamp

  /// Whether Apple's bounds belong to a span is not documented: neighbours share a second, so that nothing falls between
  /// them.
  static let overlap = Duration.seconds(1)

  /// The shortest and the longest slice that is chosen when nobody says how long.
  static let lengths = Duration.seconds(60)...Duration.seconds(6 * 3_600)
  /// Into how many slices a time is divided then, as far as the lengths allow.
  static let usualCount = 96

  /// How long the slices of a time are when nobody says.
  public static func length(from: Timestamp, to: Timestamp) -> Duration {
    let even = (to - from) / usualCount
    return min(max(even, lengths.lowerBound), lengths.upperBound)
  }

  /// The slices of a selection: the oldest first, histories in turns, always the same.
  ///
  /// What concerns one customer is little: it is one slice for each history.
  public static func plan(_ selection: BackfillSelection, length: Duration) -> [BackfillSlice] {
    let length =
      selection.transactionId == nil
      ? max(length, .milliseconds(1)) : max(selection.to - selection.from, .milliseconds(1))
    var slices: [BackfillSlice] = []
    var from = selection.from
    while from < selection.to {
      let end = min(from + length, selection.to)
      for target in selection.targets {
        slices.append(
          BackfillSlice(number: slices.count, target: target, from: from, to: min(end + overlap, selection.to)))
      }
      from = end
    }
    return slices
  }
}
