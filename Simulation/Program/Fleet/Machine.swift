// A machine that runs one process of the worker, with a supervisor that starts it again as systemd does.

internal import CSimulation
internal import Logging
internal import MillraceCore
internal import MillraceTime
internal import ServiceLifecycle

@testable internal import PlantedWorker

final class Machine: @unchecked Sendable {
  private unowned let fleet: Fleet
  let name: String
  private(set) var process: Simulation.ProcessID?
  private var group: ServiceGroup?
  private var starts = 0
  /// The processes that others have replaced. They have their own machines, so the supervisor here ignores their ends.
  private(set) var replaced: [Simulation.ProcessID] = []
  /// Whether the supervisor starts the process again after its end.
  private var isWanted = false
  /// Whether an operator keeps the process from starting.
  var isHeld = false
  /// The error that ended the process for good: an operator has to act.
  private(set) var finalError: (any Error)?

  init(_ fleet: Fleet, _ name: String) { (self.fleet, self.name) = (fleet, name) }

  var isRunning: Bool { process?.isAlive ?? false }

  /// The processes with this name that live. Two dynamic members do not have a name in common.
  var processCount: Int {
    guard fleet.plan.areStatic else { return isRunning ? 1 : 0 }
    return (replaced + [process].compactMap(\.self)).filter(\.isAlive).count
  }

  // MARK: - Faults

  func start() {
    isWanted = true
    guard !isRunning, !isHeld else { return }
    finalError = nil
    starts += 1
    let number = starts
    let process = Simulation.ProcessID(number: simulation_new_process())
    self.process = process
    fleet.timeline.add("process", "\(name) starts as process \(process.number)")
    group = nil
    let made = fleet.workload == nil ? runtime(in: process) : nil
    Simulation.inside(process) { [self] in
      Task {
        var failure: (any Error)?
        do {
          let runtime = if let made { made } else { try await workerRuntime(in: process) }
          let group = ServiceGroup(
            configuration: .init(
              services: [.init(service: runtime, successTerminationBehavior: .gracefullyShutdownGroup)],
              logger: fleet.logger(name)))
          if number == starts { self.group = group }
          try await group.run()
        } catch {
          failure = error
        }
        let end = failure
        // The rest is the supervisor's.
        Simulation.deliver(to: .world, after: .zero) { [self] in ended(number, process, end) }
      }
    }
  }

  func kill() {
    guard let process, process.isAlive else { return }
    fleet.timeline.add("fault", "\(name) is killed")
    isWanted = false
    simulation_kill(process.number)
  }

  /// Kills the former processes of this name.
  func killReplaced() { for old in replaced { simulation_kill(old.number) } }

  /// Leaves a process that is frozen to itself.
  func giveUpFrozen() {
    guard let old = process, old.isFrozen else { return }
    replaced.append(old)
    process = nil
  }

  func freeze() {
    guard let process, process.isAlive else { return }
    fleet.timeline.add("fault", "\(name) is frozen")
    simulation_freeze(process.number)
  }

  func thaw(stopsClock: Bool) {
    for old in replaced { simulation_thaw(old.number, false) }
    guard let process, process.isFrozen else { return }
    fleet.timeline.add("fault", "\(name) continues")
    simulation_thaw(process.number, stopsClock)
  }

  /// Another process with the same name starts while this one is frozen.
  func replace(after duration: Duration) {
    guard let old = process, old.isAlive, !old.isFrozen else { return }
    fleet.timeline.add("fault", "\(name) is frozen, and another process takes its name")
    simulation_freeze(old.number)
    replaced.append(old)
    process = nil
    start()
    Simulation.call(in: .world, after: duration) { [self] in
      if old.isAlive { fleet.timeline.add("fault", "the former process \(old.number) of \(name) continues") }
      simulation_thaw(old.number, false)
    }
  }

  /// Sends SIGTERM.
  func leave() {
    guard let process, process.isAlive, let group else { return }
    fleet.timeline.add("fault", "\(name) is told to stop")
    isWanted = false
    Simulation.inside(process) { Task { await group.triggerGracefulShutdown() } }
  }

  private func ended(_ number: Int, _ process: Simulation.ProcessID, _ error: (any Error)?) {
    simulation_kill(process.number)
    fleet.timeline.add("process", "\(name), process \(process.number), ends\(error.map { ": \($0)" } ?? "")")
    fleet.journal.ended(name, error, isReplaced: !replaced.isEmpty)
    guard number == starts else { return }
    // Supervisors do not restart a process whose name is taken, or that needs an operator.
    if let error = error as? MillraceError, [.membership, .topics, .configuration].contains(error.area) {
      finalError = error
      return
    }
    guard isWanted else { return }
    Simulation.call(in: .world, after: .seconds(1)) { [self] in if isWanted, !isRunning { start() } }
  }

  // MARK: - The process

  private func runtime(in process: Simulation.ProcessID) -> WorkerRuntime {
    let log = SimulatedLog(cluster: fleet.cluster, process: process, name: "\(name).\(starts)")
    return WorkerRuntime(
      WorkerRuntime.Parts(
        name: "mill", log: log, topics: fleet.topics, prefix: fleet.prefix, policy: fleet.policy,
        commit: fleet.plan.commit,
        instance: fleet.plan.areStatic ? name : "\(name).\(starts)", staticMember: fleet.plan.areStatic ? name : nil,
        handler: FleetHandler(fleet: fleet, machine: name), deadline: { _, _ in nil },
        erasure: fleet.operators.erasure, budget: nil, pauses: nil,
        clock: .ofSimulation,
        metrics: WorkerMetrics(worker: "mill", factory: PrometheusRegistry(describing: WorkerMetrics.helpTexts)),
        logger: fleet.logger(name)))
  }

  /// Creates the runtime of a worker of the product, as its process does.
  private func workerRuntime(in process: Simulation.ProcessID) async throws -> WorkerRuntime {
    guard let workload = fleet.workload else { throw NoWorkload() }
    return try await workload.runtime(
      ProcessStart(
        policy: fleet.policy, commit: fleet.plan.commit,
        log: SimulatedLog(cluster: fleet.cluster, process: process, name: "\(name).\(starts)"),
        exchange: AppleExchange(fleet: fleet, process: process), staticMember: fleet.plan.areStatic ? name : nil,
        instance: fleet.plan.areStatic ? name : "\(name).\(starts)", logger: fleet.logger(name)))
  }

  private struct NoWorkload: Error {}
}
