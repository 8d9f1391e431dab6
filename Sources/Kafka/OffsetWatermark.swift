/// The contiguous watermark of one partition: the offset up to which everything taken is also finished.
///
/// Records finish in any order; Kafka's committed offset is one number. Committing this watermark, and nothing beyond
/// it, means a crash re-reads what was unfinished and never skips it. A value without I/O: the consumer commits what
/// it says.
public struct OffsetWatermark: Sendable, Hashable {
  private struct Taken: Sendable, Hashable {
    var offset: Int64
    var isFinished = false
  }

  // Offsets rise, so the array is sorted; `head` moves instead of removing from the front at each step.
  private var taken: [Taken] = []
  private var head = 0
  private var next: Int64

  /// How many records were taken and are not finished.
  public private(set) var inFlight = 0

  /// Starts at the first offset that will be taken.
  public init(startingAt offset: Int64) { next = offset }

  /// The offset to commit: the next one a successor should read.
  public var committable: Int64 { head < taken.count ? taken[head].offset : next }

  /// Notes that a record was handed out. Gaps (compaction, transaction markers) are fine.
  /// - Returns: false where the offset is not above all earlier ones; nothing changes then.
  @discardableResult
  public mutating func take(_ offset: Int64) -> Bool {
    guard offset >= next else { return false }
    taken.append(Taken(offset: offset))
    next = offset + 1
    inFlight += 1
    return true
  }

  /// Notes that a record is finished.
  /// - Returns: the new committable offset where it moved, else nil. Unknown offsets change nothing.
  @discardableResult
  public mutating func finish(_ offset: Int64) -> Int64? {
    guard let index = index(of: offset), !taken[index].isFinished else { return nil }
    taken[index].isFinished = true
    inFlight -= 1
    guard index == head else { return nil }
    while head < taken.count, taken[head].isFinished { head += 1 }
    dropFinishedPrefix()
    return committable
  }

  private func index(of offset: Int64) -> Int? {
    var low = head
    var high = taken.count
    while low < high {
      let middle = (low + high) / 2
      if taken[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low < taken.count && taken[low].offset == offset ? low : nil
  }

  private mutating func dropFinishedPrefix() {
    if head == taken.count {
      taken.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 64, head > taken.count / 2 {
      taken.removeFirst(head)
      head = 0
    }
  }
}
