// A crowd behind one client, for hours of a clock that is turned from turn to turn, and only when every request that was
// let go has been answered: what comes of it is exact, however slow the machine.

import AppStoreSigning
import Clocks

@testable import AppStoreServerAPI

/// Many callers of one budget.
struct Crowd: Sendable {
  let manual: ManualClock
  let budget: APIBudget
  let key: BudgetKey
  let exchange: WatchedExchange
  var size = 1_000

  /// Lets everybody call, again and again, for that many hours.
  ///
  /// - Parameters:
  ///   - lateness: How late the budget's timer fires, drawn anew for each turn.
  ///   - call: One call; its limit of time is longer than the hours.
  /// - Returns: When each request was sent, since the clock's beginning.
  /// - Throws: The first error that a call met.
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
        // Everybody's limit of time and the line's timer: whoever had a turn has taken it.
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

/// An exchange that tells when requests were sent, and that they were answered.
final class WatchedExchange: HTTPExchange {
  private let exchange: any HTTPExchange
  private let clock: MillraceClock
  private let moments = Recorder<Duration>()
  /// Yields when a request was answered, or has failed.
  let answers: AsyncStream<Void>
  private let answer: AsyncStream<Void>.Continuation

  init(_ exchange: any HTTPExchange, clock: MillraceClock) {
    self.exchange = exchange
    self.clock = clock
    (answers, answer) = AsyncStream.makeStream()
  }

  /// When each request was sent, since the clock's beginning.
  var sent: [Duration] { moments.all }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    moments.add(clock.now.elapsed)
    defer { answer.yield() }
    return try await exchange.send(request)
  }
}

extension [Duration] {
  /// The most of these moments in any window of that length, wherever it starts, its end excluded.
  func most(within window: Duration) -> Int {
    var (first, most) = (0, 0)
    for last in indices {
      while self[last] - self[first] >= window { first += 1 }
      most = Swift.max(most, last - first + 1)
    }
    return most
  }

  /// How many of these moments each hour of the clock holds.
  func byHour(_ hours: Int) -> [Int] {
    (0..<hours).map { hour in count { $0 >= .seconds(3_600 * hour) && $0 < .seconds(3_600 * (hour + 1)) } }
  }
}
