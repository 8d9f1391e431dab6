// Many callers share one client, for hours of a clock that advances from slot to slot. It advances only when every sent
// request has been answered, so the results do not depend on the machine.

import AppStoreSigning
import MillraceTime

@testable import AppStoreServerAPI

/// Many callers of one budget.
struct Crowd: Sendable {
  let manual: ManualClock
  let budget: APIBudget
  let key: BudgetKey
  let exchange: WatchedExchange
  var size = 1_000

  /// Lets all callers call repeatedly for a number of hours.
  ///
  /// - Parameters:
  /// - lateness: The delay of the budget's timer, chosen at random for each slot.
  /// - call: One call. Its time limit is longer than the hours.
  /// - Returns: The time of each request since the clock's start.
  /// - Throws: The first error of a call.
  func call(
    for hours: Int, lateness: ClosedRange<Int64> = 0...500, seed: UInt64,
    _ call: @escaping @Sendable () async throws(APIError) -> Void
  ) async throws -> [Duration] {
    let failures = Recorder<APIError>()
    var generator = SeededGenerator(seed: seed)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<size {
        group.addTask {
          while !Task.isCancelled {
            if let error = await apiError(of: call), error.kind != .cancelled { failures.add(error) }
          }
        }
      }
      var answers = exchange.answers.makeAsyncIterator()
      var answered: UInt64 = 0
      while failures.all.isEmpty {
        // All time limits and the line's timer are set, so every caller with a slot has taken it.
        await manual.waitForSleepers(size + 1)
        while answered < taken {
          await answers.next()
          answered += 1
        }
        guard let turn = manual.nextDeadline, turn < .seconds(3_600 * hours) else { break }
        let late = Duration.milliseconds(Int64.random(in: lateness, using: &generator))
        manual.advance(by: turn - manual.clock.now.elapsed + late)
      }
      group.cancelAll()
    }
    if let failure = failures.all.first { throw failure }
    return exchange.sent
  }

  private var taken: UInt64 { budget.use().first { $0.key == key }?.taken ?? 0 }
}

/// An exchange that reports when requests were sent and answered.
final class WatchedExchange: HTTPExchange {
  private let exchange: any HTTPExchange
  private let clock: MillraceClock
  private let moments = Recorder<Duration>()
  /// Yields when a request was answered or failed.
  let answers: AsyncStream<Void>
  private let answer: AsyncStream<Void>.Continuation

  init(_ exchange: any HTTPExchange, clock: MillraceClock) {
    self.exchange = exchange
    self.clock = clock
    (answers, answer) = AsyncStream.makeStream()
  }

  /// The time of each request since the clock's start.
  var sent: [Duration] { moments.all }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    moments.add(clock.now.elapsed)
    defer { answer.yield() }
    return try await exchange.send(request)
  }
}

extension [Duration] {
  /// The largest number of these times in any window of this length. A window excludes its end.
  func most(within window: Duration) -> Int {
    var (first, most) = (0, 0)
    for last in indices {
      while self[last] - self[first] >= window { first += 1 }
      most = Swift.max(most, last - first + 1)
    }
    return most
  }

  /// The number of these times in each hour of the clock.
  func byHour(_ hours: Int) -> [Int] {
    (0..<hours).map { hour in count { $0 >= .seconds(3_600 * hour) && $0 < .seconds(3_600 * (hour + 1)) } }
  }
}
