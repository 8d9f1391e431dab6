// Prints and bounds what a worker's process keeps in memory about commands that are finished.

import AppStore
import KafkaClient
import Logging
import MillraceTesting
import MillraceTime
import Testing

@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct CommandMemoryTests {
  private static func record(_ operation: OperationsRecord, _ offset: Int) -> ConsumerRecord {
    let record = operation.producerRecord("millrace.operations")
    return ConsumerRecord(
      topic: record.topic, partition: 0, offset: Int64(offset), timestamp: 0, key: record.key, value: record.value,
      headers: record.headers)
  }

  @Test func `a process keeps no status of 300,000 requeues that are done, and still knows that they are`() async throws
  {
    let consumer = CommandConsumer(
      worker: "mill", topic: "millrace.operations", log: InMemoryLog(clock: ManualClock().clock),
      metrics: WorkerMetrics(worker: "mill"), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let before = try ProcessMemory.resident()
    let (count, pageSize) = (300_000, 1_000)
    for page in 0..<(count / pageSize) {
      // Each requeue is a command of its own run, as an operator gives them one by one.
      let commands = (0..<pageSize).map { index in
        let number = page * pageSize + index
        return OperationCommand(
          id: "6f1c2a34-90ab-4cde-8f01-\(100_000_000_000 + number)",
          run: "0a1b2c3d-90ab-4cde-8f01-\(100_000_000_000 + number)",
          item: OperationCommand.deadLetter(lane: Int32(number % 4), offset: Int64(number / 4)), worker: "mill",
          lane: Int32(number % 4), action: .requeue, why: "the shop's system is back", by: "ann",
          at: Timestamp(millisecondsSince1970: 0))
      }
      let records =
        commands.map { OperationsRecord.command($0) }
        + commands.map { .result(OperationResult($0, .done, at: Timestamp(millisecondsSince1970: 0))) }
      await consumer.fold(records.enumerated().map { Self.record($1, page * pageSize * 2 + $0) })
    }
    print("\(count) requeues that are done take \(Int((try ProcessMemory.resident()) - before)) MB")
    #expect(await consumer.keptStatuses == 0)
    #expect(await consumer.isFree(OperationCommand.deadLetter(lane: 3, offset: 74_999)) == false)
    #expect(await consumer.isFree(OperationCommand.deadLetter(lane: 3, offset: 75_000)))
  }
}
