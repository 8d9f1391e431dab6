// Tests how a worker joins and leaves its group, and its check of the partition counts.

import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite(.timeLimit(.minutes(15))) struct GroupMembershipTests {
  @Test(arguments: [true, false])
  func `a restart within the session causes a rebalance only for dynamic members`(
    isStatic: Bool
  ) async throws {
    let fleet = try WorkerFleet(lanes: 4)
    let book = Book()
    func start(_ name: String, as member: String) -> FleetProcess {
      fleet.start(name, staticMember: isStatic ? member : nil, FleetHandler(book))
    }
    func assignments() -> Int {
      fleet.metrics.render().split(separator: "\n").filter {
        $0.hasPrefix("millrace_worker_rebalances_total{") && $0.contains(#"kind="assigned""#)
      }.reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }
    let staying = start("a", as: "member-0")
    let leaving = start("b", as: "member-1")
    let isShared = await fleet.until {
      let (one, other) = (await staying.lanes(), await leaving.lanes())
      return one.count == 2 && other.count == 2
    }
    try #require(isShared != nil)
    let (before, lanes) = (assignments(), await staying.lanes())
    await leaving.leave()
    #expect(try #require(await fleet.end(of: leaving), "it did not leave").error == nil)
    let back = start("c", as: "member-1")
    for number in 0..<40 { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.answered().count == 40 && fleet.isRead() } != nil)
    #expect(await fleet.until { await back.lanes().count == 2 } != nil)
    // Only the returned process gets an assignment. A rebalance would assign lanes to every member.
    #expect((assignments() == before + 1) == isStatic, "\(before) assignments, then \(assignments())")
    if isStatic { #expect(await staying.lanes() == lanes) }
    #expect(book.runs.values.allSatisfy { $0 == 1 })
    await staying.crash()
    await back.crash()
  }

  @Test func `the lanes of a static member that leaves go to the others before its session ends`() async throws {
    let fleet = try WorkerFleet(lanes: 4)
    let book = Book()
    let staying = fleet.start("a", staticMember: "member-0", FleetHandler(book))
    let leaving = fleet.start("b", staticMember: "member-1", onStop: .leave, FleetHandler(book))
    let isShared = await fleet.until {
      let (one, other) = (await staying.lanes(), await leaving.lanes())
      return one.count == 2 && other.count == 2
    }
    try #require(isShared != nil)
    await leaving.leave()
    #expect(try #require(await fleet.end(of: leaving), "it did not leave").error == nil)
    // Without leaving, the lanes would move only after the log's session of 10 s.
    #expect(await fleet.until(within: .seconds(2)) { await staying.lanes().count == 4 } != nil)
    await staying.crash()
  }

  @Test func `a worker does not start if partition counts differ, and names the topic`() async throws {
    let fleet = try WorkerFleet(lanes: 4, replayLanes: 3)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    try fleet.put("n", key: "k")
    let end = try #require(await fleet.end(of: process), "the process still runs")
    let error = try #require(end.error as? MillraceError)
    #expect(error.problems.map(\.place) == [fleet.topics.replay])
    #expect(fleet.answered().isEmpty && fleet.log.committedOffsets(of: fleet.topics.group).isEmpty)
  }
}
