// How much of Apple's budget was used while work was waiting, from outside: when each failure was there, when each call
// came to Apple, and when a failed try was due again. A value; nothing of the workers' own measurements is in it.

import AppStore

struct BudgetMeter: Sendable {
  /// A call as Apple saw it.
  struct Call: Sendable {
    var time: Timestamp
    var subscription: Int64
    /// Whether the caller has its answer for good.
    var isFinal: Bool
    /// Nobody calls before then: a 429.
    var pausedUntil: Timestamp?
  }

  /// A stretch of time.
  typealias Stretch = Range<Int64>

  /// Calls an hour that may be made.
  var perHour: Double
  /// How long after its first, second and every later failed try a call is due again.
  var delays: [Duration]
  /// As many must wait as the budget serves in a second of real time: less is a remainder, not a backlog.
  var backlog: Int

  private(set) var calls = 0
  /// Milliseconds of the scenario's time in which work waited.
  private(set) var waited: Int64 = 0
  private(set) var allowed = 0.0
  /// Milliseconds of the scenario's time in which as much waited and nobody could have called, the longest of all
  /// processes.
  private(set) var closed: Int64 = 0

  init(perHour: Double, delays: [Duration], backlog: Int) {
    (self.perHour, self.delays, self.backlog) = (perHour, delays, max(1, backlog))
  }

  /// The part of what was allowed that was used.
  var use: Double { allowed > 0 ? Double(calls) / allowed : 0 }

  /// The stretches in which no process calls, because one of them met a 429 and told the others through Kafka. Who keeps
  /// to what another was told leaves nothing unused: a call meanwhile would break Apple's rule.
  static func pauses(_ calls: [Call]) -> [Stretch] {
    calls.compactMap { call in
      call.pausedUntil.map { call.time.millisecondsSince1970..<max($0, call.time).millisecondsSince1970 }
    }
  }

  /// Adds the failures that one process answers for.
  ///
  /// - Parameters:
  ///   - available: When each of its failures was there.
  ///   - made: Its calls in the order of time.
  ///   - part: Its part of the budget.
  ///   - excluded: Stretches in which it could not have called: a 429, whoever met it, or lanes that nobody had.
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
    // What happens at one moment: waits that end count up to it, waits that begin from it on.
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

  /// The most calls in any hour, wherever it begins.
  static func fullestHour(_ times: [Timestamp]) -> Int {
    let times = times.map(\.millisecondsSince1970).sorted()
    var (first, most) = (0, 0)
    for (index, time) in times.enumerated() {
      while time - times[first] >= 3_600_000 { first += 1 }
      most = max(most, index - first + 1)
    }
    return most
  }

  /// How many calls more than the budget allows in the same time, over the stretch in which that is most: an hour's bound
  /// says nothing of the minutes that a rehearsal has.
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
