// Replays to a topic by the programs of operators.

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import PlantedWorker

final class CopyMachine: @unchecked Sendable {
  static let target = "copies"

  private unowned let fleet: Fleet
  /// The records that each run has to copy, by command.
  private var expected: [String: (run: String, positions: [RecordPosition])] = [:]
  private var runs: [String] = []

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
    // A transaction that is open can hide the commands from readers.
    fleet.programs.run(
      run,
      until: { [self] in
        let parts = commands.all.values.filter { $0.command.run == run }
        return !parts.isEmpty && !parts.contains(where: \.isOpen)
      },
      { [self] log, _ in
        try await TopicReplay(
          on: log, prefix: "", source: "millrace", clock: .ofSimulation, recordClock: .ofSimulation
        ) { [self] _, why in fleet.journal.problem("\(why)") }.run(run)
      })
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
