import AppStore
import Clocks
import Kafka
import MillraceTesting
import Synchronization
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct LaneCrewTests {
  @Test func `what ended is told although everybody else works on and no time passes`() async throws {
    let mill = try Mill(lanes: 1) { $0.commitInterval = .zero }
    let waiters = MillProcess.Shared<[CheckedContinuation<Void, Never>]>([])
    let handler = MillHandler(Book()) { item, journal in
      if item.id.hasPrefix("slow") {
        await withCheckedContinuation { continuation in waiters.change { $0.append(continuation) } }
      }
      return try await MillHandler.answer(item, journal)
    }
    // Of the same size as what is handed out at once: the last to be begun does not end.
    for round in 0..<20 {
      try mill.put("quick\(round)", key: "quick\(round)")
      for number in 0..<3 { try mill.put("slow\(round).\(number)", key: "slow\(round).\(number)") }
    }
    let process = mill.start("p", handler)
    #expect(await mill.until { mill.answered().count >= 5 } != nil)
    // One after the other is let go, and the lane hears of each.
    let total = 80
    await mill.until {
      for waiter in waiters.take() { waiter.resume() }
      return mill.answered().count == total && mill.isRead()
    }
    #expect(mill.answered().count == total)
    await process.crash()
  }

  @Test func `a handler that takes too long is left behind, and the others go on`() async throws {
    let mill = try Mill(lanes: 1) { $0.handlerTimeout = .seconds(5) }
    let hung = MillProcess.Shared<[CheckedContinuation<Void, Never>]>([])
    let wasCancelled = MillProcess.Shared(false)
    let book = Book()
    let handler = MillHandler(book) { item, journal in
      if item.id == "hangs", item.attempt == 0 {
        await withCheckedContinuation { continuation in hung.change { $0.append(continuation) } }
        wasCancelled.set(Task.isCancelled)
      }
      return try await MillHandler.answer(item, journal)
    }
    let process = mill.start("p", handler)
    try mill.put("hangs", key: "k")
    for number in 0..<40 { try mill.put("n\(number)", key: "k\(number)") }
    let time = await mill.until { mill.answered().count == 40 }
    #expect(try #require(time) < .seconds(5))
    // Its next try is due after its time and the shortest tier's.
    #expect(await mill.until { mill.answered().contains("hangs") && mill.isRead() } != nil)
    #expect(book.runs["hangs"] == 2)
    for waiter in hung.take() { waiter.resume() }
    while !wasCancelled.get() { await Task.yield() }
    await mill.until(within: .seconds(2)) { false }
    #expect(mill.answered().filter { $0 == "hangs" }.count == 1, "nobody believes what was left behind")
    await process.crash()
  }
}

extension MillProcess.Shared {
  func take<Element: Sendable>() -> [Element] where Value == [Element] {
    var taken: [Element] = []
    change { value in
      taken = value
      value = []
    }
    return taken
  }
}
