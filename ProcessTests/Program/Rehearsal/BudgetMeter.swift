// Measures how much of Apple's budget was used while work was waiting: from the times of failures, of calls at Apple,
// and of due retries. A value, independent of the workers' own metrics.

import AppStore

struct BudgetMeter: Sendable {
  /// A call to Apple.
  struct Call: Sendable {
    var time: Timestamp
    var subscription: Int64
    /// Whether the caller received a final answer.
    var isFinal: Bool
    /// The time until which a 429 forbids calls.
    var pausedUntil: Timestamp?
  }

  /// A range of time in milliseconds.
  typealias Stretch = Range<Int64>

  /// The number of allowed calls per hour.
  var perHour: Double
  /// The delays after the first, the second and every later failed attempt.
  var delays: [Duration]
  /// The number of waiting failures that count as a backlog: as many as the budget serves in a second of real time.
  var backlog: Int

  private(set) var calls = 0
  /// The time in which work waited, in milliseconds of the scenario's time.
  private(set) var waited: Int64 = 0
  private(set) var allowed = 0.0
  /// The longest time of any process in which work waited but calls were impossible, in milliseconds of the scenario's
  /// time.
  private(set) var closed: Int64 = 0

  init(perHour: Double, delays: [Duration], backlog: Int) {
    (self.perHour, self.delays, self.backlog) = (perHour, delays, max(1, backlog))
  }

  /// The used part of the allowed calls.
  var use: Double { allowed > 0 ? Double(calls) / allowed : 0 }

  /// The ranges in which no process calls, because one of them met a 429 and announced it in Kafka. They count as
  /// excluded, because a call in them would break Apple's rule.
  static func pauses(_ calls: [Call]) -> [Stretch] {
    calls.compactMap { call in
      call.pausedUntil.map { call.time.millisecondsSince1970..<max($0, call.time).millisecondsSince1970 }
    }
  }

  /// Adds the failures of one process.
  ///
  /// - Parameters:
  ///   - available: The time at which each failure was available.
  ///   - made: The calls, ordered by time.
  ///   - part: The process's part of the budget.
  ///   - excluded: The ranges without possible calls: 429 pauses, and lanes without an owner.
  mutating func add(available: [Int64: Timestamp], calls made: [Call], part: Double, excluded: [Stretch]) {
    var waits: [Stretch] = []
    for (id, calls) in Dictionary(grouping: made, by: \.subscription) {
      guard var since = available[id]?.millisecondsSince1970 else { continue }
      for (number, call) in calls.enumerated() {
        let time = call.time.millisecondsSince1970
        if since < time { waits.append(since..<time) }
        if call.isFinal { break }
        let delay = Int64(delays[min(number, delays.count - 1)] / .milliseconds(1))
        since = call.pausedUntil?.millisecondsSince1970 ?? time + delay
      }
    }
    // At one time, ending waits count before it and starting waits after it.
    var changes: [(time: Int64, waiting: Int, closed: Int, call: Int)] = []
    for wait in waits { changes += [(wait.lowerBound, 1, 0, 0), (wait.upperBound, -1, 0, 0)] }
    for stretch in excluded { changes += [(stretch.lowerBound, 0, 1, 0), (stretch.upperBound, 0, -1, 0)] }
    for call in made { changes.append((call.time.millisecondsSince1970, 0, 0, 1)) }
    changes.sort { ($0.time, $1.call) < ($1.time, $0.call) }
    let threshold = max(1, Int(Double(backlog) * part))
    var (last, waiting, closures, left) = (Int64(0), 0, 0, Int64(0))
    for change in changes {
      let isCounted = waiting >= threshold && closures == 0
      if waiting >= threshold, closures > 0 { left += change.time - last }
      if isCounted {
        waited += change.time - last
        allowed += Double(change.time - last) / 3_600_000 * perHour * part
        calls += change.call
      }
      last = change.time
      waiting += change.waiting
      closures += change.closed
    }
    closed = max(closed, left)
  }

  /// The maximum number of calls in any hour.
  static func fullestHour(_ times: [Timestamp]) -> Int {
    let times = times.map(\.millisecondsSince1970).sorted()
    var (first, most) = (0, 0)
    for (index, time) in times.enumerated() {
      while time - times[first] >= 3_600_000 { first += 1 }
      most = max(most, index - first + 1)
    }
    return most
  }

  /// The maximum number of calls beyond the budget in any range of time. A rehearsal takes minutes, so the limit per
  /// hour is not enough.
  static func furthestAhead(_ times: [Timestamp], perHour: Double) -> Double {
    var (ahead, most) = (0.0, 0.0)
    var last: Timestamp?
    for time in times.sorted(by: { $0 < $1 }) {
      if let last { ahead = max(0, ahead - (time - last) / .seconds(3_600) * perHour) }
      ahead += 1
      most = max(most, ahead)
      last = time
    }
    return most
  }
}
