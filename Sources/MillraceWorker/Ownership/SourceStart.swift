// Decides where a lane starts to read a source. Retention deletes records even if a consumer has not read them, and a
// recreated topic knows nothing of old offsets. Without a check, both cases would go unnoticed.

/// The start position, from the group's committed offset and the partition's available range.
enum SourceStart: Sendable, Hashable {
  /// Start at this offset.
  case at(Int64)
  /// Start at the end of this range. Retention deleted the range before the group had read it. The range includes
  /// transaction markers, so its length is an upper bound of the lost records.
  case behind(Range<Int64>)
  /// The committed offset is beyond the end of the partition: the topic was recreated, or lost its end. New records
  /// would be mistaken for handled ones.
  case beyondEnd(committed: Int64, end: Int64)

  /// - Parameters:
  ///   - committed: The group's committed offset; nil if there is none.
  ///   - available: The partition's range, from the oldest record to the end. It must be read after `committed`.
  ///   - isAtEnd: Whether a group without committed offsets starts at the end of the partition.
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
