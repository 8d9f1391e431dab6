import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Synchronization
import TestEnvironment
import Testing

@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct HandlerPoolTests {
  @Test func `a finished handler is reported at once while all others are running`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.commitInterval = .zero }
    let waiters = FleetProcess.Shared<[CheckedContinuation<Void, Never>]>([])
    let handler = FleetHandler(Book()) { item, recorder in
      if item.id.hasPrefix("slow") {
        await withCheckedContinuation { continuation in waiters.change { $0.append(continuation) } }
      }
      return try await FleetHandler.answer(item, recorder)
    }
    // Groups as large as the number of jobs started at once, so the last job of each group does not end.
    for round in 0..<20 {
      try fleet.put("quick\(round)", key: "quick\(round)")
      for number in 0..<3 { try fleet.put("slow\(round).\(number)", key: "slow\(round).\(number)") }
    }
    let process = fleet.start("p", handler)
    #expect(await fleet.until { fleet.answered().count >= 5 } != nil)
    // The handlers resume one after the other, and the lane must notice each.
    let total = 80
    await fleet.until {
      for waiter in waiters.take() { waiter.resume() }
      return fleet.answered().count == total && fleet.isRead()
    }
    #expect(fleet.answered().count == total)
    await process.crash()
  }

  @Test func `a handler that times out is abandoned, and the others continue`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.handlerTimeout = .seconds(5) }
    let hung = FleetProcess.Shared<[CheckedContinuation<Void, Never>]>([])
    let wasCancelled = FleetProcess.Shared(false)
    let book = Book()
    let handler = FleetHandler(book) { item, recorder in
      if item.id == "hangs", item.attempt == 0 {
        await withCheckedContinuation { continuation in hung.change { $0.append(continuation) } }
        wasCancelled.set(Task.isCancelled)
      }
      return try await FleetHandler.answer(item, recorder)
    }
    let process = fleet.start("p", handler)
    try fleet.put("hangs", key: "k")
    for number in 0..<40 { try fleet.put("n\(number)", key: "k\(number)") }
    let time = await fleet.until { fleet.answered().count == 40 }
    #expect(try #require(time) < .seconds(5))
    // The next attempt is due after the timeout and the shortest retry delay.
    #expect(await fleet.until { fleet.answered().contains("hangs") && fleet.isRead() } != nil)
    #expect(book.runs["hangs"] == 2)
    for waiter in hung.take() { waiter.resume() }
    try await waitUntil(wasCancelled.get())
    await fleet.until(within: .seconds(2)) { false }
    #expect(fleet.answered().filter { $0 == "hangs" }.count == 1, "the outcome of an abandoned handler must be ignored")
    await process.crash()
  }
}

extension FleetProcess.Shared {
  func take<Element: Sendable>() -> [Element] where Value == [Element] {
    var taken: [Element] = []
    change { value in
      taken = value
      value = []
    }
    return taken
  }
}
