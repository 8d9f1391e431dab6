// The programs of operators that replay records to a topic. One of them is killed or frozen now and then. Then another one
// continues, also while the frozen one lives.

internal import AppStore
internal import CSimulation
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import PlantedWorker

final class CopyMachine: @unchecked Sendable {
  static let target = "copies"

  /// Whether programs are no longer killed and frozen.
  var isHealed = false

  private unowned let fleet: Fleet
  /// The records that each run has to copy, by command.
  private var expected: [String: (run: String, positions: [RecordPosition])] = [:]
  private var runs: [String] = []
  private var starts = 0
  private var processes: [String: [Simulation.ProcessID]] = [:]

  private static let mostFaults = 4

  init(_ fleet: Fleet) { self.fleet = fleet }

  /// Replays a part of each partition of the input topic.
  /// - Parameters:
  ///   - from: The beginning, in per cent of the offsets.
  ///   - to: The end, likewise.
  func copy(from: Int, to: Int) {
    let (topic, run) = (fleet.input, "copy-\(runs.count + 1)")
    for log in fleet.cluster.topics[topic]?.partitions ?? [] {
      let count = log.lastStableOffset - log.start
      var part = ReplayPart(
        topic: topic, from: log.start + count * Int64(from) / 100, to: log.start + count * Int64(to) / 100)
      let records = log.committed.filter { (part.from..<part.to).contains($0.offset) }
      guard part.from < part.to else { continue }
      part.target = Self.target
      part.last = records.last.map { RecordFingerprint($0) }
      let id = "\(run)/\(log.partition.partition)"
      expected[id] = (
        run, records.map { RecordPosition(topic: topic, partition: $0.partition, offset: $0.offset) }
      )
      let command = OperationCommand(
        id: id, run: run, item: id, worker: OperationCommand.noWorker, lane: log.partition.partition,
        action: .replay(part), why: "the simulation", by: "ops", at: MillraceClock.ofSimulation.wallTime)
      _ = PartitionWriter(fleet.cluster).append(
        OperationsRecord.command(command).producerRecord(fleet.topics.operations))
    }
    runs.append(run)
    fleet.timeline.add("operator", "\(run) to \(Self.target)")
    start(run, faults: 0)
  }

  /// Starts a program that executes a run, unless the run is over.
  private func start(_ run: String, faults: Int) {
    // A transaction that is open can hide the commands from readers.
    let parts = commands.all.values.filter { $0.command.run == run }
    guard parts.isEmpty || parts.contains(where: \.isOpen) else { return }
    starts += 1
    let process = Simulation.ProcessID(number: simulation_new_process())
    let log = SimulatedLog(cluster: fleet.cluster, process: process, name: "copy.\(starts)")
    processes[run, default: []].append(process)
    fleet.timeline.add("process", "\(run) is executed by process \(process.number)")
    Simulation.inside(process) {
      Task { [self] in
        var failure: (any Error)?
        do {
          try await TopicReplay(
            on: log, prefix: "", source: "millrace", clock: .ofSimulation, recordClock: .ofSimulation
          ) { [self] _, why in fleet.journal.problem("\(why)") }.run(run)
        } catch {
          failure = error
        }
        let end = failure.map { "\($0)" } ?? "without an error"
        Simulation.deliver(to: .world, after: .zero) { [self] in
          simulation_kill(process.number)
          fleet.timeline.add("process", "process \(process.number) of \(run) ends \(end)")
          startLater(run, faults, after: .seconds(2))
        }
      }
    }
    disturb(process, run, faults)
  }

  private func startLater(_ run: String, _ faults: Int, after pause: Duration) {
    Simulation.call(in: .world, after: pause) { [self] in
      guard !processes[run, default: []].contains(where: { $0.isAlive && !$0.isFrozen }) else { return }
      start(run, faults: faults)
    }
  }

  /// Kills or freezes a program after a while, and lets another one continue.
  private func disturb(_ process: Simulation.ProcessID, _ run: String, _ faults: Int) {
    guard faults < Self.mostFaults, SeedGenerator.chance(0.7) else { return }
    let (isKill, after) = (SeedGenerator.chance(0.5), SeedGenerator.duration(.zero ... .seconds(4)))
    let thaw = SeedGenerator.duration(.seconds(1) ... .seconds(40))
    Simulation.call(in: .world, after: after) { [self] in
      guard process.isAlive, !isHealed else { return }
      fleet.timeline.add("fault", "process \(process.number) of \(run) is \(isKill ? "killed" : "frozen")")
      if isKill {
        simulation_kill(process.number)
      } else {
        simulation_freeze(process.number)
        Simulation.call(in: .world, after: thaw) { simulation_thaw(process.number, false) }
      }
      startLater(run, faults + 1, after: .seconds(1))
    }
  }

  // MARK: - Checks

  private var commands: OperationsLog {
    var log = OperationsLog(worker: OperationCommand.noWorker)
    for record in fleet.cluster.records(in: fleet.topics.operations) {
      if let record = OperationsRecord(record) { _ = log.fold(record) }
    }
    return log
  }

  /// The parts that are not carried out.
  var open: [String] {
    runs.isEmpty ? [] : commands.all.values.filter(\.isOpen).map(\.command.id).sorted()
  }

  /// The records that a run has copied several times, or, if the part is done, not at all.
  var problems: [String] {
    guard !runs.isEmpty else { return [] }
    let copies = fleet.cluster.records(in: Self.target).map { record in
      "\(Fleet.header(DeliveryHistory.replayIDHeader, of: record)) \(Fleet.header(DeliveryHistory.sourceHeader, of: record))"
    }
    let (found, commands) = (Set(copies), commands)
    let missing = expected.sorted { $0.key < $1.key }.flatMap { item, part -> [String] in
      guard commands.all[item]?.outcome == .done else { return [] }
      return part.positions.map { "\(part.run) \($0.topic)/\($0.partition)/\($0.offset)" }.filter {
        !found.contains($0)
      }
    }
    return Checker.repeated(copies).map { "\($0) was copied several times" } + missing.map { "\($0) was not copied" }
  }
}
