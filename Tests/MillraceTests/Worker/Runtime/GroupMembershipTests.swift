// What a worker asks of its group, and of the topics it shares out.

import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct GroupMembershipTests {
  @Test(arguments: [true, false])
  func `a restart within the session moves no lane of a static member's group, and lanes of a dynamic one's`(
    isStatic: Bool
  ) async throws {
    let mill = try Mill(lanes: 4)
    let book = Book()
    func start(_ name: String, as member: String) -> MillProcess {
      mill.start(name, staticMember: isStatic ? member : nil, MillHandler(book))
    }
    func assignments() -> Int {
      mill.metrics.render().split(separator: "\n").filter {
        $0.hasPrefix("millrace_worker_rebalances_total{") && $0.contains(#"kind="assigned""#)
      }.reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }
    let staying = start("a", as: "member-0")
    let leaving = start("b", as: "member-1")
    let isShared = await mill.until {
      let (one, other) = (await staying.lanes(), await leaving.lanes())
      return one.count == 2 && other.count == 2
    }
    try #require(isShared != nil)
    let (before, lanes) = (assignments(), await staying.lanes())
    await leaving.leave()
    #expect(try #require(await mill.end(of: leaving), "it did not leave").error == nil)
    let back = start("c", as: "member-1")
    for number in 0..<40 { try mill.put("n\(number)", key: "k\(number)") }
    #expect(await mill.until { mill.answered().count == 40 && mill.isRead() } != nil)
    #expect(await mill.until { await back.lanes().count == 2 } != nil)
    // Its own are what the one that came back is told of; a group that notices tells everybody.
    #expect((assignments() == before + 1) == isStatic, "\(before) assignments, then \(assignments())")
    if isStatic { #expect(await staying.lanes() == lanes) }
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    await staying.crash()
    await back.crash()
  }

  @Test func `a worker whose topics differ in partitions does not start, and names the one`() async throws {
    let mill = try Mill(lanes: 4, replayLanes: 3)
    let process = mill.start("p", isKept: false, MillHandler(Book()))
    try mill.put("n", key: "k")
    let end = try #require(await mill.end(of: process), "it runs")
    let error = try #require(end.error as? MillraceError)
    #expect(error.problems.map(\.place) == [mill.topics.replay])
    #expect(mill.answered().isEmpty && mill.log.committedOffsets(of: mill.topics.group).isEmpty)
  }
}
