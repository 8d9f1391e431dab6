// Erases many customers in a lane that has many timers, and prints the time that other records wait meanwhile.

import AppStore
import Foundation
import KafkaClient
import MillraceTesting
import MillraceTime
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(60))) struct ManyErasuresTests {
  /// A number from the environment, to measure more than every run of the tests can afford.
  private static func number(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  @Test func `a thousand erasures in a lane with many timers remove the timers of these customers`() async throws {
    let timers = Self.number("MILLRACE_TEST_TIMERS", 50_000)
    let erasures = Self.number("MILLRACE_TEST_ERASURES", 1_000)
    // The test measures the processes in real time. The log's time stands still.
    var fleet = try WorkerFleet(lanes: 1, clock: .system)
    let secret = try ErasureKey(secret: Array("a secret of at least 32 bytes, yes".utf8))
    fleet.erasure.key = secret
    func key(_ number: Int) -> String { "2\(100_000_000_000_000 + number)" }
    let due = Timestamp(millisecondsSince1970: .max / 2)
    for number in 0..<timers {
      let timer = LaneTimer(at: due, key: Array(key(number).utf8), payload: [1, 2, 3])
      let record = EntryRecord(.timer("timer/\(key(number))/reminder", timer))
      try fleet.log.append(
        ProducerRecord(topic: fleet.topics.ledger, partition: 0, key: record.key, value: record.value))
    }
    let looks = FleetProcess.Shared(0)
    let started = fleet
    let process = FleetProcess(log: fleet.log.process("p"), isKept: true) { log in
      started.runtime(
        on: CountingScans(log: log, topic: started.topics.deadLetters, count: looks), FleetHandler(Book()))
    }
    var probes = 0
    /// Writes a record, and returns the time until it is committed.
    func probe() async throws -> Duration {
      let began = ContinuousClock.now
      try fleet.put("probe\(probes)", key: "other")
      probes += 1
      let live = TopicPartition(topic: WorkerFleet.live, partition: 0)
      try await waitUntil(
        fleet.log.committedOffsets(of: fleet.topics.group).first { $0.partition == live }?.offset ?? 0 >= probes)
      return began.duration(to: ContinuousClock.now)
    }
    _ = try await probe()
    let began = ContinuousClock.now
    for number in 0..<erasures {
      let bytes = Array(key(number * (timers / erasures)).utf8)
      let command = OperationCommand(
        id: "e\(number)", item: OperationCommand.erasure(of: secret.mark(of: bytes), command: "e\(number)"),
        worker: "mill", lane: 0, action: .erase(customer: try secret.seal(bytes)), why: "a request", by: "ann",
        at: fleet.clock.wallTime)
      try fleet.log.append(OperationsRecord.command(command).producerRecord(fleet.topics.operations))
    }
    var longest = Duration.zero
    while fleet.log.readableEnd(of: TopicPartition(topic: fleet.topics.operations, partition: 0)) < 2 * erasures {
      longest = max(longest, try await probe())
    }
    let took = began.duration(to: ContinuousClock.now)
    print("\(erasures) erasures, \(timers) timers: \(took); \(probes) other records, the slowest took \(longest)")
    await process.crash()
    let ledger = try fleet.ledger()
    #expect(ledger.timers.count == timers - erasures)
    #expect(looks.get() < max(10, erasures / 10), "the dead letters are read again and again")
  }
}

/// A log that counts the scans of a topic.
private struct CountingScans: ForwardingLog {
  let log: InMemoryLog
  let topic: String
  let count: FleetProcess.Shared<Int>

  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    if partition.topic == topic { count.change { $0 += 1 } }
    return try await log.scan(partition, from: start, to: end, upTo: limit, body)
  }
}
