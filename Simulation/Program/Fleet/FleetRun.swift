// Runs the plan of a seed: the load and the faults, then a time without faults, then the checks.

internal import CSimulation
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

/// The result of one seed.
struct RunResult: Sendable {
  var problems: [String]
  var hash: UInt64
  var counts: String
  var simulated: Duration
  /// The time from the end of the faults until everything was done; nil if that did not happen.
  var recovery: Duration?
  var lines: [String]
}

final class FleetRun: @unchecked Sendable {
  private let plan: Plan
  private let fleet: Fleet
  /// The notifications that must be answered. A topic that is deleted loses earlier ones.
  private var required: Set<String> = []
  private var recreatedTopics: Set<String> = []
  private var isOperating = false
  private var appleFaultsEnd = Duration.zero

  private init(_ plan: Plan, isTraced: Bool) throws {
    self.plan = plan
    fleet = try Fleet(plan, isTraced: isTraced)
  }

  /// Runs a plan in this process of the machine. Call it once.
  static func run(_ plan: Plan, isTraced: Bool) -> RunResult {
    let result = Box<RunResult?>(nil)
    let isOver = Simulation.run(seed: plan.seed, policy: plan.scheduling.native, mostJobs: 20_000_000) {
      do {
        let run = try FleetRun(plan, isTraced: isTraced)
        await run.play()
        result.value = run.result()
      } catch {
        result.value = RunResult(
          problems: ["the run cannot start: \(error)"], hash: 0, counts: "", simulated: .zero, recovery: nil, lines: [])
      }
      return true
    }
    var end =
      result.value
      ?? RunResult(
        problems: [isOver == nil ? "the run did not end within 20 million jobs" : "nothing was left to run"], hash: 0,
        counts: "",
        simulated: Simulation.worldTime, recovery: nil, lines: [])
    let counts = simulation_counts()
    end.hash = counts.hash
    end.counts = "jobs=\(counts.jobs) choices=\(counts.choices) tasks=\(counts.tasks) foreign=\(counts.foreign)"
    if counts.foreign > 0 { end.problems.append("\(counts.foreign) jobs came from another thread") }
    return end
  }

  // MARK: - The run

  private var recovery: Duration?

  private func play() async {
    for machine in fleet.machines { machine.start() }
    fleet.ingress?.start()
    for step in plan.steps {
      Simulation.call(in: .world, after: step.at) { [self] in perform(step.fault) }
    }
    await feed()
    let rest = plan.duration - Simulation.worldTime
    if rest > .zero { await pause(rest) }
    heal()
    let start = Simulation.worldTime
    var limit = plan.recoveryLimit + max(.zero, appleFaultsEnd - start)
    while Simulation.worldTime - start < limit {
      await pause(.seconds(1))
      operate()
      fleet.operators.retryDeadLetters()
      guard isDone else { continue }
      recovery = Simulation.worldTime - start
      // Late copies of requests, timers, and a worker that notices a topic that was created again.
      await pause(.seconds(10))
      if isDone { return }
      recovery = nil
      limit = max(limit, Simulation.worldTime - start + .seconds(60))
    }
  }

  private func feed() async {
    var random = PlanGenerator(seed: plan.seed ^ 0xFEED)
    for number in 0..<plan.records {
      accept(number)
      // Apple posts a notification again if it got no answer.
      if number > 10, random.chance(0.05) { accept(random.number(0...number - 1)) }
      await pause(plan.gap * random.number(0...1_000) / 1_000)
    }
  }

  private func accept(_ number: Int) {
    fleet.accept(number) { [self] id in required.insert(id) }
  }

  private func perform(_ fault: Step.Fault) {
    let network = fleet.cluster.network
    func after(_ duration: Duration, _ body: @escaping () -> Void) {
      Simulation.call(in: .world, after: duration, body)
    }
    switch fault {
    case .kill(let process, let pause):
      let machine = fleet.machines[process]
      machine.kill()
      after(pause) { machine.start() }
    case .freeze(let process, let duration, let stopsClock):
      let machine = fleet.machines[process]
      machine.freeze()
      after(duration) { machine.thaw(stopsClock: stopsClock) }
    case .leave(let process, let pause):
      let machine = fleet.machines[process]
      machine.leave()
      after(pause + .seconds(30)) { machine.start() }
    case .stop(let node, let duration):
      fleet.cluster.stop(node)
      after(duration) { [fleet] in fleet.cluster.start(node) }
    case .outage(let duration):
      for node in 0..<Cluster.nodeCount { fleet.cluster.stop(node) }
      after(duration) { [fleet] in for node in 0..<Cluster.nodeCount { fleet.cluster.start(node) } }
    case .replace(let process, let duration):
      fleet.machines[process].replace(after: duration)
    case .suspend(let node, let duration):
      fleet.cluster.suspend(node)
      after(duration) { [fleet] in fleet.cluster.resume(node) }
    case .hold(let kinds, let share, let longest, let duration):
      for kind in kinds { network.faults.held[kind] = share }
      network.faults.longestHold = longest
      after(duration) { for kind in kinds { network.faults.held[kind] = nil } }
    case .slow(let longest, let duration):
      network.faults.delay = longest
      after(duration) { network.faults.delay = NetworkFaults.none.delay }
    case .loseAnswers(let share, let duration):
      network.faults.lostAnswers = share
      after(duration) { network.faults.lostAnswers = 0 }
    case .silence(let share, let duration):
      network.faults.silent = share
      after(duration) { network.faults.silent = 0 }
    case .apple(let faults, let duration):
      guard let apple = fleet.workload?.apple else { return }
      fleet.timeline.add("fault", "Apple: \(faults)")
      apple.faults = faults
      after(duration) {
        // Another fault may have followed.
        if Simulation.worldTime >= self.appleFaultsEnd { apple.faults = .none }
      }
      appleFaultsEnd = max(appleFaultsEnd, Simulation.worldTime + duration)
    case .recreate:
      fleet.recreateInput()
      recreatedTopics.insert(fleet.input)
      required = []
    case .replay(let from, let to, let isReapply):
      let done = isReapply ? Checker(fleet, required: required).finished : nil
      fleet.operators.replay(fleet.input, from: from, to: to, reapplying: done)
    case .retain(let share): fleet.operators.retain(fleet.input, deleted: share)
    case .compact:
      fleet.timeline.add("fault", "the ledgers are compacted")
      for log in fleet.cluster.topics[fleet.topics.ledger]?.partitions ?? [] { log.compact() }
    case .killIngress(let pause):
      fleet.ingress?.kill()
      after(pause) { [fleet] in fleet.ingress?.start() }
    case .freezeIngress(let duration):
      fleet.ingress?.freeze()
      after(duration) { [fleet] in fleet.ingress?.thaw() }
    case .relane: fleet.laneMove.begin()
    case .backfill: fleet.ingress?.gaps?.fill()
    case .copy(let from, let to): fleet.copies.copy(from: from, to: to)
    case .mend: fleet.operators.isMended = true
    case .erase(let key): fleet.operators.erase("k\(key)")
    }
  }

  private func heal() {
    fleet.timeline.add("fault", "everything heals")
    fleet.operators.isMended = true
    fleet.cluster.network.faults = .none
    for node in 0..<Cluster.nodeCount {
      fleet.cluster.resume(node)
      fleet.cluster.start(node)
    }
    fleet.programs.isHealed = true
    fleet.ingress?.isHealed = true
    fleet.ingress?.gaps?.fill()
    fleet.ingress?.lostAnswers = 0
    fleet.ingress?.thaw()
    fleet.ingress?.start()
    for machine in fleet.machines {
      machine.thaw(stopsClock: false)
      if machine.finalError == nil, machine.processCount == 0 { machine.start() }
    }
  }

  /// Does what an error tells the operator to do about a topic that was created again: stop every process, set the offsets
  /// to the earliest, start again.
  private func operate() {
    let mustAct = fleet.machines.contains { ($0.finalError as? MillraceError)?.area == .topics }
    guard mustAct, !recreatedTopics.isEmpty, !isOperating else { return }
    isOperating = true
    fleet.timeline.add("process", "the operator stops every process")
    for machine in fleet.machines {
      machine.isHeld = true
      machine.killReplaced()
      machine.leave()
    }
    Task {
      while fleet.machines.contains(where: \.isRunning) || !fleet.cluster.group(fleet.topics.group).memberList.isEmpty {
        await pause(.seconds(1))
      }
      for topic in recreatedTopics.sorted() {
        for log in fleet.cluster.topics[topic]?.partitions ?? [] {
          fleet.cluster.group(fleet.topics.group).reset(log.partition, to: log.start)
        }
      }
      recreatedTopics = []
      fleet.timeline.add("process", "the operator has set the offsets to the earliest")
      for machine in fleet.machines {
        machine.isHeld = false
        machine.start()
      }
      isOperating = false
    }
  }

  private var isDone: Bool {
    guard fleet.unread.isEmpty, fleet.operators.open.isEmpty, fleet.copies.open.isEmpty,
      !fleet.laneMove.isOpen, appleFaultsEnd <= Simulation.worldTime
    else {
      return false
    }
    let checker = Checker(fleet, required: required)
    return checker.unanswered.isEmpty && checker.missingTimers.isEmpty
      && (fleet.workload?.waiting(checker).isEmpty ?? true) && (fleet.ingress?.open ?? 0) == 0
      && (fleet.ingress?.gaps?.open.isEmpty ?? true)
      && !fleet.cluster.transactions.hasOpenTransaction && fleet.machines.allSatisfy { $0.processCount == 1 }
  }

  private func result() -> RunResult {
    var problems = fleet.journal.problems
    let checker = Checker(fleet, required: required)
    problems += checker.problems() + fleet.copies.problems
    if recovery == nil {
      let rest =
        fleet.unread.map { "unread: \($0)" }
        + (fleet.operators.open + fleet.copies.open + (fleet.ingress?.gaps?.open ?? [])).map {
          "not carried out: \($0)"
        }
        + (fleet.workload?.waiting(checker) ?? []).map { "waiting: \($0)" }
        + (fleet.laneMove.isOpen ? ["the move to more lanes"] : [])
        + (fleet.ingress.map { ["\($0.open) posts without an answer"] } ?? [])
      problems.append(
        "not everything was done \(plan.recoveryLimit) after the end of the faults: \(rest.joined(separator: "; "))")
    }
    return RunResult(
      problems: problems, hash: 0, counts: "", simulated: Simulation.worldTime, recovery: recovery,
      lines: fleet.timeline.lines)
  }
}
