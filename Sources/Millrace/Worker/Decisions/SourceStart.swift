// Where a lane begins in one of its sources. A log that deletes by age does not ask whether everybody has read, and a
// topic that was made anew does not know who read the old one: both would pass in silence.

/// What the group's committed offset and the partition's own range say together.
enum SourceStart: Sendable, Hashable {
  /// Here.
  case at(Int64)
  /// At the end of this range: the log deleted what is before, and nobody of the group had read it. Markers of
  /// transactions are counted too, so it says how many at most.
  case behind(Range<Int64>)
  /// The group has read further than the partition goes: it is another topic of the same name, or it lost its end. Its
  /// new records would pass for ones that were handled.
  case beyondEnd(committed: Int64, end: Int64)

  /// - Parameters:
  ///   - committed: What the group has committed; nil: nothing yet.
  ///   - available: From the oldest record to behind the newest one, asked for after `committed`.
  ///   - isAtEnd: Whether a group that never read begins with the first record from now on.
  init(committed: Int64?, available: Range<Int64>, isAtEnd: Bool) {
    guard let committed else {
      self = .at(isAtEnd ? available.upperBound : available.lowerBound)
      return
    }
    if committed > available.upperBound {
      self = .beyondEnd(committed: committed, end: available.upperBound)
    } else if committed < available.lowerBound {
      self = .behind(committed..<available.lowerBound)
    } else {
      self = .at(committed)
    }
  }
}
