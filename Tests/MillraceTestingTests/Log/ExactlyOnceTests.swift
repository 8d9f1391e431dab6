// Tests exactly-once processing with the in-memory log. Workers copy records in transactions while processes pause,
// crash and restart. Each input must be in the output once.

import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct ExactlyOnceTests {
  private static let records = 120

  @Test func `each record is copied once while workers pause and crash`() async throws {
    let fenced = Tally()
    for seed in UInt64(0)..<60 { try await run(seed, counting: fenced) }
    // Without a fenced worker the test would show nothing.
    #expect(fenced.count > 0)
  }

  private func run(_ seed: UInt64, counting fenced: Tally) async throws {
    var random = SeededGenerator(seed: seed)
    let time = ManualClock()
    let log = InMemoryLog(clock: time.clock)
    try log.createTopic("in", partitions: 4)
    try log.createTopic("out", partitions: 4)
    for number in 0..<Self.records {
      try log.append(ProducerRecord("in", "\(number)", partition: Int32(number % 4)))
    }
    var workers = (0..<3).map { TransactionalCopier(log: log.process("w\($0)"), name: "w\($0)", fenced: fenced) }
    for step in 0..<400 where log.records(in: "out").count < Self.records || step < 40 {
      let index = Int.random(in: workers.indices, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0: workers[index].log.pause()
      case 1: workers[index].log.resume()
      case 2:
        workers[index].log.crash()
        await workers[index].end()
        workers[index] = TransactionalCopier(log: log.process("w\(index)"), name: "w\(index)", fenced: fenced)
      case 3: workers[index].log.fail(.send, with: [Self.away], reach: .unacknowledged)
      case 4: workers[index].log.fail(.commitTransaction, with: [Self.away], reach: .unacknowledged)
      case 5: workers[index].log.fail(.sendOffsets, with: [Self.away])
      case 6...9: time.advance(by: .seconds(Int64.random(in: 1...6, using: &random)))
      default: for _ in 0..<Int.random(in: 0..<10, using: &random) { await Task.yield() }
      }
    }
    for worker in workers { worker.log.resume() }
    // The remaining records wait only for the sessions and transactions of crashed workers to time out.
    for _ in 0..<2_000 where log.records(in: "out").count < Self.records {
      time.advance(by: .seconds(1))
      for _ in 0..<50 { await Task.yield() }
    }
    for worker in workers {
      worker.log.crash()
      await worker.end()
    }
    let found = log.records(in: "out").map(\.text)
    #expect(found.count == Self.records, "seed \(seed): \(found.count) records")
    #expect(Set(found) == Set((0..<Self.records).map(String.init)), "seed \(seed)")
    let committed = log.committedOffsets(of: "g").map(\.offset)
    #expect(committed == [30, 30, 30, 30], "seed \(seed)")
  }

  private static let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)
}

/// A counter for many tasks.
private final class Tally: Sendable {
  private let value = Atomic(0)
  var count: Int { value.load(ordering: .relaxed) }
  func add() { value.add(1, ordering: .relaxed) }
}

/// Copies `in` to `out`, with one transaction for each batch. Like a worker, it restarts after any error.
private struct TransactionalCopier {
  let log: InMemoryLog
  private let task: Task<Void, Never>

  init(log: InMemoryLog, name: String, fenced: Tally) {
    self.log = log
    task = Task {
      while !Task.isCancelled {
        do {
          try await Self.run(log, name)
        } catch {
          let codes: [KafkaError.Code] = [.fenced, .illegalGeneration, .unknownMember]
          if let code = (error as? KafkaError)?.code, codes.contains(code) { fenced.add() }
          await Task.yield()
        }
        if log.isCrashed { return }
      }
    }
  }

  func end() async {
    task.cancel()
    await task.value
  }

  private static func run(_ log: InMemoryLog, _ name: String) async throws {
    let reader = try log.makeReader(group: "g", topics: ["in"], options: LogReaderOptions())
    let writer = try log.makeTransactionalWriter(id: name, timeout: .seconds(15))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await reader.run() }
      group.addTask { try await copy(reader, writer) }
      defer { reader.shutDown() }
      // The task that ends first ends the other.
      _ = try await group.next()
      group.cancelAll()
    }
  }

  private static func copy(_ reader: any LogReader, _ writer: any TransactionalLogWriter) async throws {
    let limit = Duration.seconds(5)
    try await writer.initialize(timeout: limit)
    for await event in reader.events {
      guard case .assigned(let partitions) = event else {
        if case .revoked(let revocation) = event { revocation.complete() }
        continue
      }
      // Reads the assigned partitions until an error. A rebalance ends the reads, and a restart handles its event.
      let group = try await reader.groupMetadata()
      try await withThrowingTaskGroup(of: (TopicPartition, [ConsumerRecord]).self) { tasks in
        for partition in partitions {
          tasks.addTask { (partition.partition, try await partition.nextBatch(upTo: 4)) }
        }
        while let (partition, batch) = try await tasks.next() {
          guard let last = batch.last else { continue }
          try await commit(batch, CommittedOffset(partition, offset: last.offset + 1), group, writer)
          guard let queue = partitions.first(where: { $0.partition == partition }) else { continue }
          tasks.addTask { (partition, try await queue.nextBatch(upTo: 4)) }
        }
      }
    }
  }

  private static func commit(
    _ batch: [ConsumerRecord], _ offset: CommittedOffset, _ group: GroupMetadata,
    _ writer: any TransactionalLogWriter
  ) async throws {
    let limit = Duration.seconds(5)
    while true {
      do {
        try await writer.begin()
        for record in batch {
          _ = try await writer.send(
            ProducerRecord(topic: "out", partition: record.partition, key: nil, value: record.value))
        }
        try await writer.sendOffsets([offset], group: group, timeout: limit)
        try await end(writer)
        return
      } catch let error as KafkaError where error.transactionRemedy == .abort {
        try await writer.abort(timeout: limit)
        // A retry with an old generation cannot succeed.
        if error.code == .illegalGeneration || error.code == .unknownMember { throw error }
      }
    }
  }

  private static func end(_ writer: any TransactionalLogWriter) async throws {
    while true {
      do throws(KafkaError) {
        return try await writer.commit(timeout: .seconds(5))
      } catch {
        guard error.transactionRemedy == .retry else { throw error }
        await Task.yield()
      }
    }
  }
}
