// Measures how long lanes pause when a process of a worker is killed and restarted, stopped and restarted, or lost. The
// verdict depends on counts, owners and the documented bounds; pauses are printed.

import Foundation
import KafkaClient
import MillraceRecords
import MillraceTesting
import ScenarioRig

/// The times and processes of each lane's events.
struct LaneEvents: TopicView {
  private struct Lane {
    var seen: ContinuousClock.Instant
    var longest = Duration.zero
    var process: Int
  }

  /// The state of the task that writes notifications. At `ending` the task stops, and sets `ended`.
  enum Load { case running, ending, ended }

  private var lanes: [Int32: Lane] = [:]
  /// The lane of each notification.
  private var places: [String: Int32] = [:]
  var load = Load.running

  /// The process that published each lane's latest event.
  var processes: [Int32: Int] { lanes.mapValues(\.process) }

  /// The longest time without an event since ``begin()``, by lane.
  var pauses: [Int32: Duration] {
    let now = ContinuousClock.now
    return lanes.mapValues { max($0.longest, now - $0.seen) }
  }

  mutating func wrote(_ notification: String, to lane: Int32) { places[notification] = lane }

  mutating func add(_ record: ConsumerRecord) {
    guard case .event(let event) = Findings.Found(record), let number = places[event.notification] else { return }
    let now = ContinuousClock.now
    var lane = lanes[number] ?? Lane(seen: now, process: event.process)
    lane.longest = max(lane.longest, now - lane.seen)
    (lane.seen, lane.process) = (now, event.process)
    lanes[number] = lane
  }

  /// Resets the pauses.
  mutating func begin() { for lane in lanes.keys { lanes[lane]?.longest = .zero } }
}

extension CrashTest {
  private typealias LaneWatch = TopicObserver<LaneEvents>

  /// One of three processes with a fixed name.
  private struct Place {
    var group: WorkerGroup
    var process: Child
    /// All processes that had this name.
    var processes: Set<Int>

    /// Starts the process of a group.
    init(_ group: WorkerGroup, after earlier: Set<Int> = []) async throws {
      try await group.start(1)
      guard let process = await group.processes.first else { throw RunError("no process was started") }
      (self.group, self.process) = (group, process)
      processes = earlier.union([Int(process.pid)])
    }
  }

  /// - Parameter rounds: The number of kills and restarts.
  func restartPauses(_ rounds: Int) async throws -> String {
    endpoint.setUnreliable(false)
    // For comparison: without names, the group treats every start as a new member.
    let isNamed = ProcessInfo.processInfo.environment["CRASH_NAMELESS"] == nil
    let watch = LaneWatch(LaneEvents())
    let groups = (0..<3).map { place($0, isNamed: isNamed) }
    return try await ScenarioRig.run {
      try await ScenarioRig.run {
        try await self.restarts(max(1, rounds), of: groups, isNamed: isNamed, watch)
      } thenAlways: {
        for group in groups { await group.killAll() }
      }
    } beside: {
      try await watch.follow([self.topics.events], of: self.deployment)
    } _: {
      try await self.feed(watch)
    }
  }

  /// Writes one notification per lane, twice per second, until the load ends.
  private func feed(_ watch: LaneWatch) async throws {
    defer { watch.update { $0.load = .ended } }
    while watch.load == .running, !Task.isCancelled {
      var records: [ProducerRecord] = []
      for lane in 0..<Int32(deployment.lanes) {
        let (fixture, hasEffect) = try await next(isTest: true)
        expect([fixture.id: hasEffect])
        watch.update { $0.wrote(fixture.id, to: lane) }
        var record = fixture.producerRecord
        record.partition = lane
        records.append(record)
      }
      try await deployment.log.append(records)
      do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
    }
  }

  private func restarts(
    _ rounds: Int, of groups: [WorkerGroup], isNamed: Bool, _ watch: LaneWatch
  ) async throws -> String {
    var places: [Place] = []
    for group in groups { places.append(try await Place(group)) }
    try await shared(among: places, watch)
    for round in 0..<rounds {
      try await restart(
        &places, round % 3, by: .kill, after: .seconds(1), "killed, started 1 s later", within: .seconds(10),
        isNamed: isNamed, watch)
    }
    for index in 0..<3 {
      try await restart(
        &places, index, by: .terminate, after: .seconds(8), "stopped, started 8 s later", within: nil,
        isNamed: isNamed, watch)
    }
    try await loss(of: 1, places, isNamed: isNamed, watch)
    // What is written after the workers have left would have no event.
    watch.update { $0.load = .ending }
    try await wait(for: "the load to end") { watch.load == .ended }
    let all = Set(sent.keys)
    try await wait(for: "the last notifications to be answered") { all.isSubset(of: observer.answered) }
    for place in places { place.process.send(.terminate) }
    for process in places.map(\.process) where process.end != .killed {
      let end = await process.wait()
      if end != .exit(0) { fault("a process left with \(end) after SIGTERM: \(process.log)") }
    }
    return "\(rounds) processes killed and started again, three restarted in turn, one lost"
  }

  /// Stops a process and starts another one in its place.
  private func restart(
    _ places: inout [Place], _ index: Int, by signal: Child.Signal, after delay: Duration, _ what: String,
    within limit: Duration?, isNamed: Bool, _ watch: LaneWatch
  ) async throws {
    let before = owners(places, watch)
    let leftBefore = try lanesLeft(places, except: index)
    watch.update { $0.begin() }
    let place = places[index]
    let end = await place.group.end(0, by: signal)
    if signal == .terminate, end != .exit(0) { fault("a process left with \(end) after SIGTERM") }
    try await Task.sleep(for: delay)
    places[index] = try await Place(place.group, after: place.processes)
    let pid = Int(places[index].process.pid)
    try await wait(for: "a restarted process to work") { watch.processes.values.contains(pid) }
    try await flowing(watch)
    let after = owners(places, watch)
    let own = before.filter { $0.value == index }.map(\.key)
    let moved = before.filter { after[$0.key] != $0.value }.count
    report(what, own, watch, more: "\(moved) lanes moved")
    guard isNamed else { return }
    if moved > 0 { fault("\(what): \(moved) lanes moved") }
    let left = try lanesLeft(places, except: index) - leftBefore
    if left > 0 { fault("\(what): other processes gave up lanes \(left) times") }
    check(what, own, watch, limit)
  }

  /// Kills a process without restarting it.
  private func loss(of index: Int, _ places: [Place], isNamed: Bool, _ watch: LaneWatch) async throws {
    let before = owners(places, watch)
    let own = before.filter { $0.value == index }.map(\.key)
    watch.update { $0.begin() }
    await places[index].group.end(0, by: .kill)
    try await wait(for: "the others to have all lanes") {
      watch.processes.values.allSatisfy { !places[index].processes.contains($0) }
    }
    try await flowing(watch)
    report("killed, not started again", own, watch, more: "the others have its lanes")
    if isNamed { check("killed, not started again", own, watch, .seconds(25)) }
  }

  private func check(_ what: String, _ own: [Int32], _ watch: LaneWatch, _ limit: Duration?) {
    guard let limit, let longest = own.compactMap({ watch.pauses[$0] }).max(), longest > limit else { return }
    fault("\(what): a lane paused for \(longest.tenths) s, the limit is \(limit.tenths) s")
  }

  private func report(_ what: String, _ own: [Int32], _ watch: LaneWatch, more: String) {
    let pauses = watch.pauses
    func text(_ lanes: some Sequence<Int32>) -> String {
      lanes.sorted().map { "\($0): \((pauses[$0] ?? .zero).tenths)" }.joined(separator: ", ")
    }
    say("\(what): longest pause in s of its lanes \(text(own))")
    say("  of the others' \(text(pauses.keys.filter { !own.contains($0) })); \(more)")
  }

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
    try await wait(for: "three processes to share the lanes") {
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
      try await wait(for: "all lanes to work") { observer.answered.count >= reference }
    }
  }
}
