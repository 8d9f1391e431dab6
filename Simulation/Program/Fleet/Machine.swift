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
  /// Whether the supervisor starts the process again after its end.
  private var isWanted = false
  /// The error that ended the process for good: an operator has to act.
  private(set) var finalError: (any Error)?

  init(_ fleet: Fleet, _ name: String) { (self.fleet, self.name) = (fleet, name) }

  var isRunning: Bool { process?.isAlive ?? false }

  // MARK: - Faults

  func start() {
    isWanted = true
    finalError = nil
    guard !isRunning else { return }
    starts += 1
    let number = starts
    let process = Simulation.ProcessID(number: simulation_new_process())
    self.process = process
    fleet.timeline.add("process", "\(name) starts as process \(process.number)")
    let runtime = runtime(in: process)
    Simulation.inside(process) { [self] in
      Task {
        let logger = fleet.logger(name)
        let group = ServiceGroup(
          configuration: .init(
            services: [.init(service: runtime, successTerminationBehavior: .gracefullyShutdownGroup)], logger: logger))
        self.group = group
        var failure: (any Error)?
        do { try await group.run() } catch { failure = error }
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

  func freeze() {
    guard let process, process.isAlive else { return }
    fleet.timeline.add("fault", "\(name) is frozen")
    simulation_freeze(process.number)
  }

  func thaw(stopsClock: Bool) {
    guard let process, process.isFrozen else { return }
    fleet.timeline.add("fault", "\(name) continues")
    simulation_thaw(process.number, stopsClock)
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
    guard number == starts else { return }
    fleet.timeline.add("process", "\(name) ends\(error.map { ": \($0)" } ?? "")")
    fleet.journal.ended(name, error)
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
        name: "mill", log: log, topics: fleet.topics, prefix: "", policy: fleet.policy, commit: fleet.plan.commit,
        instance: fleet.plan.areStatic ? name : "\(name).\(starts)", staticMember: fleet.plan.areStatic ? name : nil,
        handler: FleetHandler(fleet: fleet, machine: name), deadline: { _, _ in nil }, budget: nil, pauses: nil,
        clock: .ofSimulation,
        metrics: WorkerMetrics(worker: "mill", factory: WorkerProcess.makeRegistry()), logger: fleet.logger(name)))
  }
}
