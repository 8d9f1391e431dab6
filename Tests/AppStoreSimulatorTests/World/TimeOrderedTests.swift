import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct TimeOrderedTests {
  @Test func `elements are ordered by time, and by insertion within the same time`() {
    for seed in UInt64(0)..<20 {
      var generator = SeededGenerator(seed: seed)
      var queue = TimeOrdered<Int>()
      var expected: [(due: Int64, element: Int)] = []
      for element in 0..<200 {
        let due = Int64.random(in: 0..<30, using: &generator)
        queue.add(element, at: Timestamp(millisecondsSince1970: due))
        expected.append((due, element))
      }
      // The standard library's sort is stable.
      expected.sort { $0.due < $1.due }
      var found: [Int] = []
      while let next = queue.popDue(by: Timestamp(millisecondsSince1970: 30)) { found.append(next.element) }
      #expect(found == expected.map(\.element), "seed \(seed)")
      #expect(queue.count == 0)
    }
  }

  @Test func `nothing is returned before its time`() {
    var queue = TimeOrdered<Int>()
    queue.add(1, at: Timestamp(millisecondsSince1970: 10))
    #expect(queue.popDue(by: Timestamp(millisecondsSince1970: 9)) == nil)
    #expect(queue.nextDue == Timestamp(millisecondsSince1970: 10))
    #expect(queue.popDue(by: Timestamp(millisecondsSince1970: 10))?.element == 1)
  }
}
