// The programs that operators start. One of them is killed or frozen now and then. Then another one continues, also while
// the frozen one lives.

internal import CSimulation
internal import KafkaClient
internal import MillraceCore

final class OperatorPrograms: @unchecked Sendable {
  /// Whether programs are no longer killed and frozen.
  var isHealed = false

  private unowned let fleet: Fleet
  private var starts = 0
  private var processes: [String: [Simulation.ProcessID]] = [:]

  private static let mostFaults = 4

  init(_ fleet: Fleet) { self.fleet = fleet }

  /// Starts programs, one after the other, until a work is done.
  /// - Parameters:
  ///   - isDone: Asked before each program.
  ///   - program: What a program does.
  func run(
    _ name: String, until isDone: @escaping () -> Bool,
    _ program: @escaping @Sendable (SimulatedLog, Simulation.ProcessID) async throws -> Void
  ) {
    start(Work(name: name, isDone: isDone, program: program), faults: 0)
  }

  private struct Work: @unchecked Sendable {
    var name: String
    var isDone: () -> Bool
    var program: @Sendable (SimulatedLog, Simulation.ProcessID) async throws -> Void
  }

  private func start(_ work: Work, faults: Int) {
    guard !work.isDone() else { return }
    starts += 1
    let process = Simulation.ProcessID(number: simulation_new_process())
    let log = SimulatedLog(cluster: fleet.cluster, process: process, name: "program.\(starts)")
    processes[work.name, default: []].append(process)
    fleet.timeline.add("process", "\(work.name) is executed by process \(process.number)")
    Simulation.inside(process) {
      Task { [self] in
        var failure: (any Error)?
        do { try await work.program(log, process) } catch { failure = error }
        let end = failure.map { "\($0)" } ?? "without an error"
        Simulation.deliver(to: .world, after: .zero) { [self] in
          simulation_kill(process.number)
          fleet.timeline.add("process", "process \(process.number) of \(work.name) ends \(end)")
          startLater(work, faults, after: .seconds(2))
        }
      }
    }
    disturb(process, work, faults)
  }

  private func startLater(_ work: Work, _ faults: Int, after pause: Duration) {
    Simulation.call(in: .world, after: pause) { [self] in
      guard !processes[work.name, default: []].contains(where: { $0.isAlive && !$0.isFrozen }) else { return }
      start(work, faults: faults)
    }
  }

  /// Kills or freezes a program after a while, and lets another one continue.
  private func disturb(_ process: Simulation.ProcessID, _ work: Work, _ faults: Int) {
    guard faults < Self.mostFaults, SeedGenerator.chance(0.7) else { return }
    let (isKill, after) = (SeedGenerator.chance(0.5), SeedGenerator.duration(.zero ... .seconds(4)))
    let thaw = SeedGenerator.duration(.seconds(1) ... .seconds(40))
    Simulation.call(in: .world, after: after) { [self] in
      guard process.isAlive, !isHealed else { return }
      fleet.timeline.add("fault", "process \(process.number) of \(work.name) is \(isKill ? "killed" : "frozen")")
      if isKill {
        simulation_kill(process.number)
      } else {
        simulation_freeze(process.number)
        Simulation.call(in: .world, after: thaw) { simulation_thaw(process.number, false) }
      }
      startLater(work, faults + 1, after: .seconds(1))
    }
  }
}
