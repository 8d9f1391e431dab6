import KafkaClient
import Testing

@testable import MillraceTesting

@Suite struct PartitionStoreTests {
  private func record(_ text: String, at time: Int64 = 0) -> ConsumerRecord {
    ConsumerRecord(topic: "t", partition: 0, offset: 0, timestamp: time, key: nil, value: Array(text.utf8))
  }

  @Test func `transaction markers occupy offsets and are never returned`() {
    var store = PartitionStore()
    _ = store.append(record("a"), in: 1)
    store.end(1, isCommitted: true)
    #expect(store.append(record("b"), in: nil) == 2)
    let (records, next) = store.read(from: 0, limit: 10)
    #expect(records.map(\.offset) == [0, 2])
    #expect(next == 3)
  }

  @Test func `the last stable offset is before the oldest open transaction`() {
    var store = PartitionStore()
    _ = store.append(record("a"), in: nil)
    _ = store.append(record("b"), in: 1)
    _ = store.append(record("c"), in: 2)
    _ = store.append(record("d"), in: nil)
    #expect(store.lastStableOffset == 1)
    store.end(2, isCommitted: true)
    #expect(store.lastStableOffset == 1)
    store.end(1, isCommitted: false)
    #expect(store.lastStableOffset == store.end)
    #expect(store.read(from: 0, limit: 10).records.map(\.text) == ["a", "c", "d"])
    #expect(store.everything.map(\.text) == ["a", "b", "c", "d"])
  }

  @Test func `a batch ends at its limit and the next one continues after it`() {
    var store = PartitionStore()
    for text in ["a", "b", "c"] { _ = store.append(record(text), in: nil) }
    let (first, next) = store.read(from: 0, limit: 2)
    #expect(first.map(\.text) == ["a", "b"])
    #expect(store.read(from: next, limit: 2).records.map(\.text) == ["c"])
  }

  @Test func `trimmed records are gone and offsets do not change`() {
    var store = PartitionStore()
    for (index, text) in ["a", "b", "c"].enumerated() { _ = store.append(record(text, at: Int64(index)), in: nil) }
    store.trim(before: 2)
    #expect(store.start == 2)
    #expect(store.end == 3)
    #expect(store.read(from: 0, limit: 9).records.map(\.offset) == [2])
    #expect(store.offset(since: 0) == 2)
    store.trim(before: 99)
    #expect(store.start == 3)
  }
}
