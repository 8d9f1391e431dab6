import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct DueHeapTests {
  @Test func `a record does not leave before it is due`() {
    var heap = DueHeap<Int>(places: 2)
    check(heap.insert(1, due: .second(10)))
    #expect(heap.nextDue == .second(10))
    let early = heap.popDue(at: Timestamp(millisecondsSince1970: Timestamp.second(10).millisecondsSince1970 - 1))
    let onTime = heap.popDue(at: .second(10))
    #expect((early, onTime) == (nil, 1))
    #expect(heap.nextDue == nil)
  }

  @Test func `an oversize record is admitted alone`() {
    var heap = DueHeap<Int>(places: 8, bytes: 10)
    let admitted = [50, 1].map { heap.insert($0, due: .second(0), bytes: $0) }
    #expect(admitted == [true, false])
    _ = heap.popDue(at: .second(0))
    let next = [6, 4, 1].map { heap.insert($0, due: .second(0), bytes: $0) }
    #expect(next == [true, true, false])
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `records leave in order of due time, then of arrival, within the bounds`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var heap = DueHeap<Int>(places: 20, bytes: 500)
    var model: [(due: Timestamp, number: Int, bytes: Int)] = []
    var now: Int64 = 0
    for number in 0..<400 {
      if Bool.random(using: &random) {
        let due = Timestamp.second(now + Int64.random(in: 0...10, using: &random))
        let bytes = Int.random(in: 0...60, using: &random)
        let fits = model.isEmpty || model.count < 20 && model.reduce(0, { $0 + $1.bytes }) + bytes <= 500
        check(heap.insert(number, due: due, bytes: bytes) == fits, "seed \(seed)")
        if fits { model.append((due, number, bytes)) }
      } else {
        now += Int64.random(in: 0...3, using: &random)
        let expected = model.filter { $0.due <= .second(now) }.min { ($0.due, $0.number) < ($1.due, $1.number) }
        check(heap.popDue(at: .second(now)) == expected?.number, "seed \(seed)")
        model.removeAll { $0.number == expected?.number }
      }
      #expect(heap.count == model.count, "seed \(seed)")
      #expect(heap.bytes == model.reduce(0) { $0 + $1.bytes }, "seed \(seed)")
      #expect(heap.nextDue == model.map(\.due).min(), "seed \(seed)")
    }
  }
}
