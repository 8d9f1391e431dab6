// Tests how the rehearsal measures the use of a budget, with small cases.

import AppStore
import Testing

@testable import millrace_scenarios

@Suite struct BudgetMeterTests {
  /// A meter with one call per second of the scenario's time. By default a single waiting call is a backlog.
  private static func meter(backlog: Int = 1) -> BudgetMeter {
    BudgetMeter(perHour: 3_600, delays: [.seconds(10), .seconds(60)], backlog: backlog)
  }

  private static func second(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: seconds * 1_000) }

  private static func call(_ seconds: Int64, _ id: Int64, isFinal: Bool = true, pause: Int64? = nil) -> BudgetMeter.Call
  {
    .init(time: second(seconds), subscription: id, isFinal: isFinal, pausedUntil: pause.map { second($0) })
  }

  private static func available(_ ids: ClosedRange<Int64>, at seconds: Int64 = 0) -> [Int64: Timestamp] {
    Dictionary(uniqueKeysWithValues: ids.map { ($0, second(seconds)) })
  }

  @Test func `a call at every possible time uses the whole budget`() {
    var meter = Self.meter()
    meter.add(available: Self.available(1...10), calls: (1...10).map { Self.call($0, $0) }, part: 1, excluded: [])
    #expect(meter.calls == 10 && meter.waited == 10_000 && meter.use == 1)
  }

  @Test func `time without waiting calls does not count, and time with waiting calls does`() {
    var meter = Self.meter()
    let calls = (1...5).map { Self.call(2 * $0, $0) } + [Self.call(101, 6)]
    let available = Self.available(1...5).merging(Self.available(6...6, at: 100)) { $1 }
    meter.add(available: available, calls: calls, part: 1, excluded: [])
    #expect(meter.calls == 6 && meter.waited == 11_000)
  }

  @Test func `a failed attempt waits from its due time, which depends on the number of failures`() {
    var meter = Self.meter()
    let calls = [Self.call(1, 1, isFinal: false), Self.call(13, 1, isFinal: false), Self.call(80, 1)]
    meter.add(available: Self.available(1...1), calls: calls, part: 1, excluded: [])
    // 0 to 1, 11 to 13, 73 to 80.
    #expect(meter.waited == 10_000 && meter.calls == 3)
  }

  @Test func `time with less than a backlog, with a pause, or with unowned lanes does not count`() {
    var meter = Self.meter(backlog: 3)
    meter.add(available: Self.available(1...4), calls: (1...4).map { Self.call($0, $0) }, part: 1, excluded: [])
    #expect(meter.waited == 2_000 && meter.calls == 2)
    meter = Self.meter()
    let paused = [Self.call(1, 1, isFinal: false, pause: 50), Self.call(51, 1), Self.call(52, 2)]
    meter.add(
      available: Self.available(1...2), calls: paused, part: 1, excluded: BudgetMeter.pauses(paused))
    #expect(meter.waited == 3_000 && meter.calls == 3 && meter.closed == 49_000)
    meter = Self.meter()
    meter.add(available: Self.available(1...1), calls: [Self.call(30, 1)], part: 1, excluded: [5_000..<29_000])
    #expect(meter.waited == 6_000 && meter.calls == 1)
  }

  @Test func `each process has its part`() {
    var meter = Self.meter()
    for ids in [1...5, 6...10] as [ClosedRange<Int64>] {
      meter.add(
        available: Self.available(ids), calls: ids.map { Self.call(($0 - ids.lowerBound + 1) * 2, $0) }, part: 0.5,
        excluded: [])
    }
    #expect(meter.use == 1 && meter.calls == 10)
  }

  @Test func `a 429 of one process pauses the others too`() {
    var meter = Self.meter()
    let first = [Self.call(1, 1, isFinal: false, pause: 50), Self.call(51, 1)]
    let second = [Self.call(1, 2), Self.call(51, 3)]
    let pauses = BudgetMeter.pauses(first + second)
    meter.add(available: Self.available(1...1), calls: first, part: 0.5, excluded: pauses)
    meter.add(available: Self.available(2...3), calls: second, part: 0.5, excluded: pauses)
    #expect(meter.calls == 4 && meter.waited == 4_000 && meter.closed == 49_000)
  }

  @Test func `the fullest hour can start at any time`() {
    let times = [0, 1_800, 3_599, 3_600, 5_399, 9_000].map { Self.second($0) }
    #expect(BudgetMeter.fullestHour(times) == 4)
    #expect(BudgetMeter.fullestHour([]) == 0)
  }

  @Test func `a minute at twice the rate is far ahead, and an even rate is always one call ahead`() {
    let even = (0..<600).map { Self.second($0) }
    #expect(BudgetMeter.furthestAhead(even, perHour: 3_600) == 1)
    #expect(BudgetMeter.furthestAhead(even, perHour: 1_800) == 300.5)
    // Idle time gives no credit, and a lead shrinks with time.
    let burst = [0, 100, 100, 100, 101, 102].map { Self.second($0) }
    #expect(BudgetMeter.furthestAhead(burst, perHour: 3_600) == 3)
    #expect(BudgetMeter.furthestAhead([], perHour: 3_600) == 0)
  }
}
