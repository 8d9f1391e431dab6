// The scenarios: faults of processes and actions of an operator during the work. Each ends with a verdict over Kafka,
// the ledger and the endpoint.

import AppStoreSigning
import ArgumentParser
import KafkaClient
import ScenarioRig

enum CrashScenario: String, CaseIterable, ExpressibleByArgument {
  /// `kill -9` at random moments.
  case kill
  /// The same with a backlog, so many notifications are committed together and share a page of the ledger.
  case backlog
  /// SIGTERM to one process after the other, under load.
  case rolling
  /// A notification whose handler kills its process in every process.
  case poison
  /// Operator commands for dead letters and replays, with the command line.
  case operate
  /// SIGSTOP until the group and the transaction coordinator have expired the process, then SIGCONT.
  case zombie
  /// Brokers of a three-node cluster are killed, paused and restarted under load, one by one and all at once.
  case faults
  /// All brokers of a three-node cluster are killed at once under load, and two processes have one name.
  case outage
  /// Named processes are killed, restarted and lost, and the pauses of lanes are measured.
  case restartPauses = "restart-pauses"

  var needsTransactions: Bool { [.zombie, .faults, .restartPauses].contains(self) }

  var size: CrashTest.Size {
    switch self {
    case .backlog: .deep
    case .restartPauses: .asDeployed
    case .faults, .outage: .faults
    default: .usual
    }
  }
}

/// The result of a scenario.
struct CrashVerdict: Sendable {
  var title: String
  var details: String
  var faults: [String]
}

extension CrashTest {
  func run(_ scenario: CrashScenario, rounds: Int, seed: UInt64) async throws -> CrashVerdict {
    var random = SeededGenerator(seed: seed &+ 1)
    var promise = Promise(isExactlyOnce: deployment.isTransactional)
    let title: String
    switch scenario {
    case .kill: title = try await killRounds(rounds, of: 20...50, using: &random)
    case .backlog:
      promise.hasPages = true
      try await send(300)
      title = try await killRounds(min(rounds, 3), of: 60...120, using: &random) + " over a backlog"
    case .rolling:
      // Only the graceful shutdown prevents repeated work here.
      promise = Promise(isExactlyOnce: true, isCalledOnce: true)
      title = try await rollingRestart(rounds)
    case .poison: title = try await poison(using: &random)
    case .operate:
      // Without kills, only an incorrect command could repeat anything.
      promise = Promise(isExactlyOnce: true, isCalledOnce: true, deadly: Self.refusal)
      title = try await operate(using: &random)
    case .zombie: title = try await pausedZombies(rounds, using: &random)
    case .restartPauses: title = try await restartPauses(rounds)
    case .faults: title = try await brokerFaults(BrokerFault.plan(pauses: rounds))
    case .outage: title = try await brokerFaults(BrokerFault.outages)
    }
    return try await verdict(title, promise)
  }

  // MARK: - kill -9

  private func killRounds(
    _ rounds: Int, of counts: ClosedRange<Int>, using random: inout SeededGenerator
  ) async throws -> String {
    try await workers.start(3)
    var killed = 0
    for round in 1...max(1, rounds) {
      let count = Int.random(in: counts, using: &random)
      try await send(count)
      // The kill happens after a random number of calls and events, not after a time.
      let before = observer.events + endpoint.calls
      let moment = before + Int.random(in: 0...count, using: &random)
      try await wait(for: "the moment of round \(round)") { observer.events + endpoint.calls >= moment }
      try await Task.sleep(for: .milliseconds(Int.random(in: 0..<40, using: &random)))
      let victims = (0..<3).shuffled(using: &random).prefix(Self.victims[Int.random(in: 0..<8, using: &random)])
      for index in victims {
        guard try await workers.replace(index, by: .kill) == .killed else { continue }
        killed += 1
      }
      // Some rounds also stop a process gracefully.
      if Int.random(in: 0..<4, using: &random) == 0, let index = (0..<3).first(where: { !victims.contains($0) }) {
        try await leaveInOrder(index)
      }
      say(
        "round \(round) of \(rounds): \(victims.count) killed; \(sent.count) sent, \(observer.answered.count) answered")
    }
    return "\(killed) processes killed in \(rounds) rounds"
  }

  /// The number of kills in a round, by a roll of an eight-sided die.
  private static let victims = [1, 1, 1, 1, 1, 2, 2, 3]

  private func leaveInOrder(_ index: Int) async throws {
    let end = try await workers.replace(index, by: .terminate)
    guard end == .exit(0) else { throw RunError("a process left with \(end) after SIGTERM") }
  }

  // MARK: - Rolling restart

  private func rollingRestart(_ rounds: Int) async throws -> String {
    endpoint.setUnreliable(false)
    try await workers.start(3)
    try await send(30)
    for worker in await workers.processes { try await waitForWork(of: worker) }
    for round in 0..<max(1, rounds) {
      try await load()
      try await leaveInOrder(round % 3)
      try await load()
      try await waitForWork(of: workers.processes[round % 3])
      say(
        "restart \(round + 1) of \(rounds): \(sent.count) sent, \(observer.answered.count) answered")
    }
    return "\(rounds) restarts of three processes under load"
  }

  /// Writes notifications, and returns while at least half of them are unhandled.
  private func load() async throws {
    try await send(24)
    let enough = sent.count - 12
    try await wait(for: "half of the load") { observer.answered.count >= enough }
    try await send(12)
  }

  /// Writes until a process has published an event, which shows that it has lanes.
  private func waitForWork(of worker: Child) async throws {
    func isWorking() -> Bool { observer.processes.contains(Int(worker.pid)) }
    while !isWorking() {
      let ids = sent.count - 6
      try await wait(for: "\(worker.log) to take its lanes") { isWorking() || observer.answered.count >= ids }
      if !isWorking() { try await send(6) }
    }
  }

  // MARK: - A handler that kills

  private func poison(using random: inout SeededGenerator) async throws -> String {
    endpoint.setUnreliable(false)
    // Written before the workers start, so the chosen notification is still unhandled.
    try await send(40)
    guard let id = sent.filter(\.value).keys.sorted().randomElement(using: &random) else {
      throw RunError("none of \(sent.count) notifications has an effect")
    }
    try await poisoning(id) {
      try await workers.start(3)
      let others = Set(sent.keys).subtracting([id])
      try await wait(for: "\(id) to become a dead letter, and the others to be handled") {
        observer.dead.contains(id) && others.isSubset(of: observer.answered.union(observer.dead))
      }
    }
    // A crash marker that the group rejects during a rebalance is not counted, so a few more kills are possible.
    guard (3...6).contains(poisonings) else {
      throw RunError("\(id) killed \(poisonings) processes, expected 3 to 6")
    }
    guard !observer.answered.contains(id) else {
      throw RunError("\(id) has an event although its handler kills the process")
    }
    // Under suspicion a lane runs one record at a time, so at most one record of each other lane was in flight three
    // times.
    let suspects = observer.dead.count - 1
    guard suspects < deployment.lanes else {
      throw RunError("\(suspects) other notifications became dead letters because of \(id)")
    }
    say("\(id) killed \(poisonings) processes and became a dead letter, with \(suspects) others in flight each time")
    return "a notification that kills its process three times"
  }

  // MARK: - A zombie

  private func pausedZombies(_ rounds: Int, using random: inout SeededGenerator) async throws -> String {
    endpoint.setUnreliable(false)
    try await workers.start(3)
    try await send(20)
    for round in 1...max(1, rounds) {
      let zombie = try await workerWithACall(Int.random(in: 0..<3, using: &random))
      zombie.send(.pause)
      let stopped = ContinuousClock.now
      try await send(20)
      let ids = Set(sent.keys)
      try await wait(for: "the others to take over its work") { ids.isSubset(of: observer.answered) }
      // The only real time limit here: longer than the session and transaction timeouts.
      try await Task.sleep(until: stopped + Self.beyondTransaction)
      let before = try await findings()
      zombie.send(.resume)
      endpoint.release()
      // Its outcomes in memory are decided once the others' work and its own are done.
      try await send(20)
      let all = Set(sent.keys)
      try await wait(for: "new work after the zombie") { all.isSubset(of: observer.answered) }
      guard zombie.end == nil else {
        throw RunError("a zombie ended instead of rejoining: \(zombie.log)")
      }
      let late = try await findings().events.filter { $0.process == Int(zombie.pid) && ids.contains($0.notification) }
      let old = before.events.filter { $0.process == Int(zombie.pid) }
      guard late.count == old.count else {
        throw RunError(
          "a zombie committed \(late.count - old.count) outcomes after losing its lanes")
      }
      let pause = ContinuousClock.now - stopped
      say("round \(round) of \(rounds): paused for \(pause.components.seconds) s with records in flight")
    }
    return "\(rounds) processes paused beyond their session and their transaction"
  }

  /// Returns a process that waits for the endpoint's answer, so it has an effect whose result no other process knows.
  private func workerWithACall(_ index: Int) async throws -> Child {
    while true {
      try await keep()
      let worker = await workers.processes[index]
      endpoint.hold(worker.pid)
      try await send(6)
      let all = Set(sent.keys)
      try await wait(for: "a call of the process to be paused") {
        endpoint.waitingCount > 0 || all.isSubset(of: observer.answered)
      }
      if endpoint.waitingCount > 0 { return worker }
    }
  }

  private static let beyondTransaction = Duration.seconds(12)

  // MARK: - Verdict

  private func verdict(_ title: String, _ promise: Promise) async throws -> CrashVerdict {
    try await settle()
    var faults: [String] = []
    for left in try await workers.leave() { faults.append("a process left with \(left.end) after SIGTERM") }
    // The next process must find only new work.
    let before = try await findings()
    try await workers.start(1)
    try await send(3 * deployment.lanes)
    try await settle()
    for left in try await workers.leave() { faults.append("the last process left with \(left.end)") }
    let after = try await findings()
    let known = Set(before.events)
    for event in after.events where before.sent[event.notification] != nil && !known.contains(event) {
      faults.append("\(event.notification) was handled again by the last process")
    }
    for (name, effect) in after.effects where before.effects[name].map({ $0.calls != effect.calls }) ?? false {
      faults.append("\(name) was called again by the last process")
    }
    faults += after.faults(promise)
    faults += try await lag()
    for (id, reason) in after.deadLetters where reason != promise.deadly {
      faults.append("\(id) became a dead letter: \(reason)")
    }
    return CrashVerdict(title: title, details: after.summary, faults: problems + faults)
  }
}
