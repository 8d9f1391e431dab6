// What a reader outside sees while processes die: events and dead letters as they become visible.

import AppStore
import Kafka
import Millrace
import Synchronization

final class Observer: Sendable {
  private struct State {
    var answered: Set<String> = []
    var dead: Set<String> = []
    var processes: Set<Int> = []
    var events = 0
  }

  private let state = Mutex(State())

  /// Notifications that have an event.
  var answered: Set<String> { state.withLock { $0.answered } }
  /// Notifications that have a dead letter.
  var dead: Set<String> { state.withLock { $0.dead } }
  /// Events, repeated ones included.
  var events: Int { state.withLock { $0.events } }

  /// Whether a process has published something.
  func hasSeen(_ process: Int32) -> Bool { state.withLock { $0.processes.contains(Int(process)) } }

  /// Reads from the beginning of these partitions until cancelled.
  func follow(_ partitions: [TopicPartition], on kafka: KafkaConfiguration) async throws {
    let consumer = try KafkaConsumer(
      kafka, subscription: .partitions(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .earliest) })))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      for await event in consumer.events {
        guard case .assigned(let queues) = event else { continue }
        for queue in queues {
          group.addTask {
            while true {
              let batch = try await queue.nextBatch(upTo: 1_000)
              guard !batch.isEmpty else { return }
              self.take(batch)
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private func take(_ records: [ConsumerRecord]) {
    state.withLock { state in
      for record in records {
        if let event = Findings.Event(record) {
          state.answered.insert(event.notification)
          state.processes.insert(event.process)
          state.events += 1
        } else if DeadLetter(record.headers) != nil, let id = record.text("ce_id") {
          state.dead.insert(id)
        }
      }
    }
  }
}

/// Collects what a scan finds.
final class Found: Sendable {
  private let state = Mutex<[ConsumerRecord]>([])
  var records: [ConsumerRecord] { state.withLock { $0 } }
  func add(_ records: [ConsumerRecord]) { state.withLock { $0 += records } }
}
