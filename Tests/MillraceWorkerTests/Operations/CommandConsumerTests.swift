// Tests how concurrent readers fold operators' commands for a worker's lanes.

import AppStore
import AppStoreSigning
import MillraceTime
import KafkaClient
import Logging
import MillraceTesting
import Testing

@testable import MillraceWorker

@Suite struct CommandConsumerTests {
  private static let command = OperationCommand(
    id: "c", run: "r", item: "c", worker: "mill", lane: 0,
    action: .replay(ReplayPart(topic: "t", from: 0, to: 1_000)), why: "", by: "ann",
    at: Timestamp(millisecondsSince1970: 0))

  /// A command and its successive progress records.
  private static let topic: [ConsumerRecord] = {
    let notes = (1...60).map { number in
      OperationsRecord.result(
        OperationResult(
          command, .progress(next: Int64(number) * 10), sent: Int64(number),
          at: Timestamp(millisecondsSince1970: 0)))
    }
    return ([.command(command)] + notes).enumerated().map { offset, operation in
      let record = operation.producerRecord("millrace.operations")
      return ConsumerRecord(
        topic: record.topic, partition: 0, offset: Int64(offset), timestamp: 0, key: record.key, value: record.value,
        headers: record.headers)
    }
  }()

  private func commands() -> CommandConsumer {
    CommandConsumer(
      worker: "mill", topic: "millrace.operations", log: InMemoryLog(clock: ManualClock().clock),
      metrics: WorkerMetrics(worker: "mill"), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `the position of a replay never goes back with several concurrent readers`(seed: UInt64) async {
    var random = SeededGenerator(seed: seed)
    let commands = commands()
    // The follower and the lanes each read all records, with their own page sizes and pace.
    var readers = Array(repeating: 0, count: 4)
    var furthest = 0
    while let reader = readers.indices.filter({ readers[$0] < Self.topic.count }).randomElement(using: &random) {
      let end = min(Self.topic.count, readers[reader] + Int.random(in: 1...20, using: &random))
      await commands.fold(Array(Self.topic[readers[reader]..<end]))
      readers[reader] = end
      furthest = max(furthest, end)
      let place = await commands.place(of: Self.command)
      #expect(place?.sent ?? 0 == Int64(furthest - 1), "seed \(seed)")
      #expect(place?.next ?? 0 == Int64(furthest - 1) * 10, "seed \(seed)")
    }
  }
}
