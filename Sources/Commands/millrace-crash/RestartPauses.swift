// Measures how long lanes pause when a process of a worker is killed and restarted, stopped and restarted, or lost. The
// verdict depends on counts, owners and the documented bounds; pauses are printed.

import Foundation
import KafkaClient
import MillraceWorker
import MillraceTesting
import Processes
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The times and processes of each lane's events.
final class LaneWatch: Sendable {
  private struct Lane {
    var seen: ContinuousClock.Instant
    var longest = Duration.zero
    var process: Int
  }

  private struct State {
    var lanes: [Int32: Lane] = [:]
    /// The lane of each notification.
    var places: [String: Int32] = [:]
    var load = Load.running
  }

  /// The state of the task that writes notifications.
  enum Load { case running, ending, ended }

  private let state = Mutex(State())

  /// The process that published each lane's latest event.
  var processes: [Int32: Int] { state.withLock { $0.lanes.mapValues(\.process) } }

  /// Whether notifications are written. Set it to `ending` to stop the writing task, which then sets `ended`.
  var load: Load {
    get { state.withLock { $0.load } }
    set { state.withLock { $0.load = newValue } }
  }

  func wrote(_ notification: String, to lane: Int32) { state.withLock { $0.places[notification] = lane } }

  func take(_ records: [ConsumerRecord]) {
    let now = ContinuousClock.now
    state.withLock { state in
      for record in records {
        guard case .event(let event) = Findings.Found(record), let number = state.places[event.notification] else {
          continue
        }
        var lane = state.lanes[number] ?? Lane(seen: now, process: event.process)
        lane.longest = max(lane.longest, now - lane.seen)
        (lane.seen, lane.process) = (now, event.process)
        state.lanes[number] = lane
      }
    }
  }

  /// Resets the pauses.
  func begin() { state.withLock { state in for lane in state.lanes.keys { state.lanes[lane]?.longest = .zero } } }

  /// The longest time without an event since ``begin()``, by lane.
  var pauses: [Int32: Duration] {
    let now = ContinuousClock.now
    return state.withLock { $0.lanes.mapValues { max($0.longest, now - $0.seen) } }
  }
}

extension CrashTest {
  /// One of three processes with a fixed name.
  private struct Place {
    var name: String?
    var process: Child
    var starts = 1
    /// All processes that had this name.
    var processes: Set<Int> = []
  }

  /// - Parameter rounds: The number of kills and restarts.
  func restartPauses(_ rounds: Int) async throws -> String {
    world.setUnreliable(false)
    // For comparison: without names, the group treats every start as a new member.
    let isNamed = ProcessInfo.processInfo.environment["CRASH_NAMELESS"] == nil
    let watch = LaneWatch()
    let events = try await deployment.log.partitions(of: [deployment.topics.events])
    return try await withThrowingTaskGroup(of: String?.self) { [deployment] group in
      group.addTask {
        try await deployment.kafka.follow(events) { watch.take($0) }
        return nil
      }
      group.addTask { try await self.feed(watch) }
      group.addTask { try await self.restarts(max(1, rounds), isNamed: isNamed, watch) }
      defer { group.cancelAll() }
      while let end = try await group.next() {
        if let end { return end }
      }
      throw RunError("\(deployment.name): the cluster ended")
    }
  }

  /// Writes one notification per lane, twice per second, until the load ends.
  private func feed(_ watch: LaneWatch) async throws -> String? {
    defer { watch.load = .ended }
    while watch.load == .running, !Task.isCancelled {
      var records: [ProducerRecord] = []
      for lane in 0..<Int32(deployment.lanes) {
        let (fixture, hasEffect) = try await next(isTest: true)
        expect([fixture.id: hasEffect])
        watch.wrote(fixture.id, to: lane)
        var record = fixture.producerRecord
        record.partition = lane
        records.append(record)
      }
      try await deployment.log.append(records)
      do { try await Task.sleep(for: .milliseconds(500)) } catch { return nil }
    }
    return nil
  }

  private func restarts(_ rounds: Int, isNamed: Bool, _ watch: LaneWatch) async throws -> String {
    var places: [Place] = []
    do {
      for index in 0..<3 {
        let name = isNamed ? "place-\(index)" : nil
        let process = try startApart("place-\(index)-1", as: name)
        places.append(Place(name: name, process: process, processes: [Int(process.pid)]))
      }
      try await shared(among: places, watch)
      for round in 0..<rounds {
        places = try await restart(
          places, round % 3, by: SIGKILL, after: .seconds(1), "killed, started 1 s later", within: .seconds(10), watch)
      }
      for index in 0..<3 {
        places = try await restart(
          places, index, by: SIGTERM, after: .seconds(8), "stopped, started 8 s later", within: nil, watch)
      }
      places = try await loss(of: 1, places, watch)
      // What is written after the workers have left would have no event.
      watch.load = .ending
      try await pause("the load to end") { watch.load == .ended }
      let all = Set(sent.keys)
      try await pause("the last notifications to be answered") { [observer] in all.isSubset(of: observer.answered) }
      for place in places where place.process.end == nil { place.process.send(SIGTERM) }
      for place in places where place.process.end != .signal(SIGKILL) {
        let end = await place.process.wait()
        if end != .exit(0) { fault("a process left with \(end) after SIGTERM: \(place.process.log)") }
      }
    } catch {
      for place in places {
        place.process.send(SIGKILL)
        _ = await place.process.wait()
      }
      throw error
    }
    return "\(rounds) processes killed and started again, three restarted in turn, one lost"
  }

  /// Stops a process and starts another one in its place.
  private func restart(
    _ places: [Place], _ index: Int, by signal: Int32, after wait: Duration, _ what: String, within limit: Duration?,
    _ watch: LaneWatch
  ) async throws -> [Place] {
    var places = places
    let before = owners(places, watch)
    let leftBefore = try lanesLeft(places, except: index)
    watch.begin()
    places[index].process.send(signal)
    let end = await places[index].process.wait()
    if signal == SIGTERM, end != .exit(0) { fault("a process left with \(end) after SIGTERM") }
    try await Task.sleep(for: wait)
    places[index].starts += 1
    places[index].process = try startApart("place-\(index)-\(places[index].starts)", as: places[index].name)
    places[index].processes.insert(Int(places[index].process.pid))
    let pid = Int(places[index].process.pid)
    try await pause("a restarted process to work") { watch.processes.values.contains(pid) }
    try await flowing(watch)
    let after = owners(places, watch)
    let own = before.filter { $0.value == index }.map(\.key)
    let moved = before.filter { after[$0.key] != $0.value }.count
    report(what, own, watch, more: "\(moved) lanes moved")
    guard places[index].name != nil else { return places }
    if moved > 0 { fault("\(what): \(moved) lanes moved") }
    let left = try lanesLeft(places, except: index) - leftBefore
    if left > 0 { fault("\(what): other processes gave up lanes \(left) times") }
    check(what, own, watch, limit)
    return places
  }

  /// Kills a process without restarting it.
  private func loss(of index: Int, _ places: [Place], _ watch: LaneWatch) async throws -> [Place] {
    let before = owners(places, watch)
    let own = before.filter { $0.value == index }.map(\.key)
    watch.begin()
    places[index].process.send(SIGKILL)
    _ = await places[index].process.wait()
    try await pause("the others to have all lanes") { [processes = places[index].processes] in
      watch.processes.values.allSatisfy { !processes.contains($0) }
    }
    try await flowing(watch)
    report("killed, not started again", own, watch, more: "the others have its lanes")
    if places[index].name != nil { check("killed, not started again", own, watch, .seconds(25)) }
    return places
  }

  private func check(_ what: String, _ own: [Int32], _ watch: LaneWatch, _ limit: Duration?) {
    guard let limit, let longest = own.compactMap({ watch.pauses[$0] }).max(), longest > limit else { return }
    fault("\(what): a lane paused for \(tenths(longest)) s, the limit is \(tenths(limit)) s")
  }

  private func report(_ what: String, _ own: [Int32], _ watch: LaneWatch, more: String) {
    let pauses = watch.pauses
    func text(_ lanes: some Sequence<Int32>) -> String {
      lanes.sorted().map { "\($0): \(tenths(pauses[$0] ?? .zero))" }.joined(separator: ", ")
    }
    say("\(what): longest pause in s of its lanes \(text(own))")
    say("  of the others' \(text(pauses.keys.filter { !own.contains($0) })); \(more)")
  }

  private func tenths(_ duration: Duration) -> String { String(format: "%.1f", duration / .seconds(1)) }

  /// The owner of each lane, by its position.
  private func owners(_ places: [Place], _ watch: LaneWatch) -> [Int32: Int] {
    watch.processes.compactMapValues { process in places.firstIndex { $0.processes.contains(process) } }
  }

  /// The number of times that other processes logged the loss of a lane.
  private func lanesLeft(_ places: [Place], except index: Int) throws -> Int {
    try places.indices.filter { $0 != index }.reduce(0) { count, other in
      let text = try String(contentsOfFile: places[other].process.log, encoding: .utf8)
      return count + text.components(separatedBy: "lane left").count - 1
    }
  }

  /// Waits until each process has had a third of the lanes for long enough that no rebalance is pending.
  private func shared(among places: [Place], _ watch: LaneWatch) async throws {
    let lanes = deployment.lanes
    try await pause("three processes to share the lanes") {
      let processes = watch.processes
      return processes.count == lanes && Set(processes.values).count == 3
        && Dictionary(grouping: processes.values, by: { $0 }).values.allSatisfy { $0.count == lanes / 3 }
    }
    try await flowing(watch)
  }

  /// Waits until every lane has published its events for a while.
  private func flowing(_ watch: LaneWatch) async throws {
    for _ in 0..<2 {
      let reference = sent.count
      try await pause("all lanes to work") { [observer] in observer.answered.count >= reference }
    }
  }

  private func pause(_ reason: String, until holds: @Sendable () -> Bool) async throws {
    while !holds() {
      guard ContinuousClock.now < deployment.tools.deadline else {
        throw RunError("\(deployment.name): time limit reached, waiting for \(reason); logs in \(deployment.directory)")
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
