// The parts of a run's time range. Each is fetched from its first page to its last and has its own checkpoint. Pure.

package import AppStore

/// The totals of a run or a slice.
package struct BackfillCounts: Sendable, Hashable {
  /// The number of pages that Apple returned.
  package var pages = 0
  /// The number of notifications written to their topics. A restarted slice counts its notifications again.
  package var published = 0
  /// The number of items in the quarantine because they are not valid notifications for a configured app.
  package var quarantined = 0
  /// The number of slices that restarted because Apple rejected their page token.
  package var restarts = 0

  /// All counts zero.
  package init() {}

  /// The sum of two totals.
  package static func + (left: BackfillCounts, right: BackfillCounts) -> BackfillCounts {
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

  /// The name and value of each count.
  var members: [(String, Int)] {
    [("pages", pages), ("published", published), ("quarantined", quarantined), ("restarts", restarts)]
  }
}

/// The checkpoint of a slice.
package struct BackfillMark: Sendable, Hashable {
  /// The token of the next page; nil for the first page.
  package var token: String?
  /// Whether the last page is in Kafka.
  package var isDone = false
  /// The totals so far.
  package var counts = BackfillCounts()

  /// The start of a slice.
  package init() {}
}

/// A part of a run's time range in one history.
package struct BackfillSlice: Sendable, Hashable {
  /// The slice's number within its run.
  package var number: Int
  /// The app and environment of the history.
  package var target: BackfillTarget
  /// The start of the slice.
  package var from: Timestamp
  /// The end of the slice.
  package var to: Timestamp

  /// Neighboring slices share a second, because Apple does not document whether the bounds of a range are inclusive.
  static let overlap = Duration.seconds(1)

  /// The bounds of the default slice length.
  static let lengths = Duration.seconds(60)...Duration.seconds(6 * 3_600)
  /// The number of slices to aim for within those bounds.
  static let usualCount = 96

  /// The default slice length for a time range.
  package static func length(from: Timestamp, to: Timestamp) -> Duration {
    let even = (to - from) / usualCount
    return min(max(even, lengths.lowerBound), lengths.upperBound)
  }

  /// The slices of a selection, oldest first, alternating between histories. The result is deterministic.
  ///
  /// A selection for one customer is small and gets one slice per history.
  package static func plan(_ selection: BackfillSelection, length: Duration) -> [BackfillSlice] {
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
