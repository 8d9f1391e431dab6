/// The contiguous watermark of one partition: the offset before which every taken record is finished.
///
/// Records finish in any order, but a committed offset is a single number. If a consumer commits only this watermark,
/// it reads unfinished records again after a crash and never skips one. No I/O.
public struct OffsetWatermark: Sendable, Hashable {
  private struct InFlightOffset: Sendable, Hashable {
    var offset: Int64
    var isFinished = false
  }

  // The array is sorted, because offsets rise. Moving `head` avoids removing elements from the front.
  private var taken: [InFlightOffset] = []
  private var head = 0
  private var next: Int64

  /// The number of records that were taken and are not finished.
  public private(set) var inFlight = 0

  /// Creates a watermark that starts at the first offset to be taken.
  public init(startingAt offset: Int64) { next = offset }

  /// The offset to commit: the next one that a successor should read.
  public var committable: Int64 { head < taken.count ? taken[head].offset : next }

  /// Records that a record was taken. Offsets may have gaps, from compaction or transaction markers.
  /// - Returns: False, without an effect, if the offset is not above all earlier ones.
  @discardableResult
  public mutating func take(_ offset: Int64) -> Bool {
    guard offset >= next else { return false }
    taken.append(InFlightOffset(offset: offset))
    next = offset + 1
    inFlight += 1
    return true
  }

  /// Moves past offsets that hold no record, such as transaction markers, up to `offset`.
  /// - Returns: Whether the committable offset moved. It moves later if a record is still in flight.
  @discardableResult
  public mutating func skip(to offset: Int64) -> Bool {
    guard offset > next else { return false }
    next = offset
    return head == taken.count
  }

  /// Records that a record is finished. Unknown offsets have no effect.
  /// - Returns: The new committable offset if it moved, otherwise nil.
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
