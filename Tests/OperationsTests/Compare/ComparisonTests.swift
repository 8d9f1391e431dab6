import AppStoreSigning
import Testing

@testable import Operations

@Suite struct ComparisonTests {
  private func kept(_ id: String, key: String = "k", topic: String = "t", bytes: [UInt8] = [1]) -> Comparison.Kept {
    Comparison.Kept(id: id, key: key, topic: topic, type: "DID_RENEW", bytes: bytes)
  }

  private func got(_ ids: String...) -> [ReceivedNotification] {
    ids.map { ReceivedNotification(id: $0, bytes: nil) }
  }

  private func kinds(_ comparison: Comparison) -> [String] {
    comparison.differences.map { "\($0.kind.rawValue) \($0.id)" }
  }

  @Test func `the same notifications in the same order are equal, even with repetitions`() {
    let comparison = Comparison(
      topics: [kept("a"), kept("b"), kept("a")], receiver: got("a", "a", "b", "a"))
    #expect(comparison.isEqual)
    #expect(comparison.kept == 2 && comparison.received == 2 && comparison.repetitions == 2)
  }

  @Test func `notifications that one side lacks are reported`() {
    let comparison = Comparison(topics: [kept("a"), kept("b")], receiver: got("c", "b"))
    #expect(kinds(comparison) == ["missing a", "unknown c"])
    #expect(comparison.lines == ["missing\ta\tDID_RENEW\tt", "unknown\tc\t\t"])
    #expect(comparison.kept == 2 && comparison.received == 2)
    #expect(
      comparison.summary
        == "2 notifications in the topics, 2 at the receiver (0 repetitions): 1 missing at the receiver, "
        + "1 unknown to the topics, 0 with different bytes, 0 out of order")
  }

  @Test func `different bytes are reported, and a bare id is not compared by bytes`() {
    let topics = [kept("a"), kept("b")]
    let comparison = Comparison(
      topics: topics,
      receiver: [ReceivedNotification(id: "a", bytes: [2]), ReceivedNotification(id: "b", bytes: nil)])
    #expect(kinds(comparison) == ["bytes a"])
  }

  @Test func `order counts within a key and family, not between them`() {
    let topics = [kept("a"), kept("b"), kept("c", key: "l"), kept("d", topic: "u")]
    #expect(Comparison(topics: topics, receiver: got("d", "c", "a", "b")).isEqual)
    #expect(kinds(Comparison(topics: topics, receiver: got("d", "c", "b", "a"))) == ["order b"])
  }

  @Test(arguments: UInt64(0)..<50)
  func `dropped, invented and swapped notifications are found, and nothing else`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let topics = (0..<60).map { kept("n\($0)", key: "k\($0 % 5)") }
    var ids = topics.map(\.id)
    var expected: Set<String> = []
    let dropped = Int.random(in: 0..<60, using: &random)
    expected.insert("missing \(ids.remove(at: dropped))")
    ids.insert("x", at: Int.random(in: 0...ids.count, using: &random))
    expected.insert("unknown x")
    let comparison = Comparison(
      topics: topics, receiver: ids.map { ReceivedNotification(id: $0, bytes: nil) })
    #expect(Set(kinds(comparison)) == expected, "seed \(seed)")
  }
}
