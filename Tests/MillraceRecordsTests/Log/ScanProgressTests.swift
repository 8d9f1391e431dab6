import KafkaClient
import Testing

@testable import MillraceRecords

@Suite struct ScanProgressTests {
  private func page(_ offsets: Int64..., end: Int64? = nil) -> PartitionPage {
    PartitionPage(
      records: offsets.map {
        ConsumerRecord(topic: "t", partition: 0, offset: $0, timestamp: nil, key: nil, value: nil)
      }, end: end)
  }

  @Test func `records and partition ends advance the position, whichever is further`() {
    var progress = ScanProgress(end: 10)
    #expect(progress.take(page(0, 1, 2)).count == 3)
    #expect(progress.position == 3)
    #expect(progress.take(page(end: 5)).isEmpty)
    #expect(progress.position == 5)
    // The end was read before the last records of the batch arrived.
    #expect(progress.take(page(5, 7, end: 5)).count == 2)
    #expect(progress.position == 8)
    #expect(!progress.isOver)
  }

  @Test func `a scan is over at its end, even if no record is there`() {
    var byRecord = ScanProgress(end: 3)
    #expect(byRecord.take(page(0, 2)).count == 2)
    #expect(byRecord.isOver)
    var byMarkers = ScanProgress(end: 3)
    #expect(byMarkers.take(page(0, end: 3)).count == 1)
    #expect(byMarkers.isOver)
  }

  @Test func `records after the end are not part of a scan`() {
    var progress = ScanProgress(end: 3)
    #expect(progress.take(page(1, 4, 5)).map(\.offset) == [1])
    #expect(progress.position == 3)
    #expect(progress.isOver)
  }

  @Test func `filtered records advance the position`() {
    var progress = ScanProgress(end: 9)
    var skipped = page(3)
    (skipped.skipped, skipped.next) = (2, 6)
    #expect(progress.take(skipped).map(\.offset) == [3])
    #expect(progress.position == 6)
    skipped.next = 12
    _ = progress.take(skipped)
    #expect(progress.isOver)
    #expect(progress.position == 9)
  }

  @Test func `an end before the position is ignored, and a scan without an end is never over`() {
    var progress = ScanProgress(end: nil)
    _ = progress.take(page(5))
    _ = progress.take(page(end: 2))
    #expect(progress.position == 6)
    #expect(!progress.isOver)
  }

  @Test(arguments: [
    (StartOffset.earliest, true, false), (.latest, true, true), (.offset(7), false, false), (.offset(9), true, true),
  ])
  func `an empty range is recognized before reading`(
    start: StartOffset, whenEmpty: Bool, whenFull: Bool
  ) {
    let progress = ScanProgress(end: 9)
    #expect(progress.isOver(at: start, of: 9..<9) == whenEmpty)
    #expect(progress.isOver(at: start, of: 2..<9) == whenFull)
  }
}
