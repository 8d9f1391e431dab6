import AppStore
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTesting
import Synchronization
import Testing

@Suite struct WorkerHarnessTests {
  @Test func `an event is published once for a repeated notification`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      let notification = try await harness.receive(.expired, .voluntary)
      try await harness.receive(again: notification)
      let events = try await harness.events()
      #expect(events.map(\.name) == ["subscriber.left"])
      #expect(events.first?.key == notification.key)
      #expect(try await harness.deadLetters().isEmpty)
    }
  }

  @Test func `an ignored notification leaves no records`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      try await harness.receive(.didRenew)
      #expect(try await harness.events().isEmpty)
      #expect(try await harness.deadLetters().isEmpty)
      #expect(await harness.delayed().allSatisfy(\.isEmpty))
    }
  }

  @Test func `a retry waits in the largest retry delay that fits and never runs early`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      try await harness.receive(.didFailToRenew)
      #expect(await harness.delayed().map(\.count) == [0, 1, 0, 0, 0])
      try await harness.advance(by: .milliseconds(59_999))
      #expect(await harness.delayed().map(\.count) == [0, 1, 0, 0, 0])
      try await harness.advance(by: .milliseconds(1))
      #expect(await harness.delayed().map(\.count) == [0, 2, 0, 0, 0])
    }
  }

  @Test func `a permanent failure is a dead letter with its code and the original bytes`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      let notification = try await harness.receive(.gracePeriodExpired)
      let letters = try await harness.deadLetters()
      #expect(letters.map(\.reason) == ["no-use"])
      #expect(letters.first?.record.value == notification.bytes)
    }
  }

  @Test func `an unknown error is retried with growing delays until the attempts are exhausted`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      try await harness.receive(.offerRedeemed)
      for _ in 0..<40 { try await harness.advance(by: .seconds(21_600)) }
      #expect(try await harness.deadLetters().map(\.reason) == ["attempts-exhausted"])
      #expect(await harness.delayed().map(\.count).reduce(0, +) == WorkerPolicy().maximumAttempts - 1)
    }
  }

  @Test func `tombstones and forged bytes become dead letters at once`() async throws {
    try await WorkerHarness.run(Winback.self) { harness in
      let genuine = try await harness.receive(.didRenew)
      var forged = genuine.producerRecord
      forged.value = genuine.bytes.dropLast(4) + Array("AAAA".utf8)
      forged.headers = forged.headers.map { $0.name == "ce_id" ? RecordHeader("ce_id", "another") : $0 }
      try await harness.receive(forged)
      var tombstone = forged
      tombstone.value = nil
      tombstone.headers = tombstone.headers.map { $0.name == "ce_id" ? RecordHeader("ce_id", "third") : $0 }
      try await harness.receive(tombstone)
      #expect(Set(try await harness.deadLetters().map(\.reason)) == ["unverified", "tombstone"])
      #expect(try await harness.events().isEmpty)
    }
  }

  @Test func `a tombstone without headers or key is a dead letter and blocks no record`() async throws {
    var setup = WorkerHarness.Setup()
    setup.lanes = 1
    try await WorkerHarness.run(Winback.self, setup) { harness in
      let topic = harness.topics.inputs[0]
      let keyless = ProducerRecord(topic: topic, partition: 0, key: nil, value: nil)
      for record in [ProducerRecord(topic: topic, partition: 0, key: Array("k".utf8), value: nil), keyless, keyless] {
        try await harness.receive(record)
      }
      try await harness.receive(.expired, .voluntary)
      let letters = try await harness.deadLetters()
      #expect(letters.map(\.reason) == ["tombstone", "tombstone", "tombstone"])
      #expect(letters.map { DeliveryHistory($0.record).first.offset } == [0, 1, 2])
      #expect(letters.allSatisfy { $0.record.value == nil })
      #expect(try await harness.events().map(\.name) == ["subscriber.left"])
    }
  }

  @Test func `with strict ordering the successors of a delayed record wait for it`() async throws {
    try await WorkerHarness.run(Recorder.self) { harness in
      var ids: [String] = []
      for type in [NotificationTypeV2.didFailToRenew, .didRenew, .didChangeRenewalStatus] {
        let fixture = try await harness.receive(type, type == .didChangeRenewalStatus ? .autoRenewDisabled : nil) {
          $0.setOriginalTransactionId("2000000000000001")
        }
        ids.append(fixture.id)
      }
      #expect(try await harness.events().isEmpty)
      try await harness.advance(by: .seconds(10))
      let handled = try await harness.events().map { $0.data }
      #expect(handled == ids.map { .object(["id": .string($0)]) })
    }
  }

  @Test func `an effect is caused once even if its handler runs twice`() async throws {
    try await WorkerHarness.run(Extender.self) { harness in
      let fixture = try await harness.receive(.didRenew)
      #expect(try await harness.events().isEmpty)
      try await harness.advance(by: .seconds(10))
      #expect(try await harness.events().map(\.data) == [.object(["answer": "done"])])
      #expect(Extender.calls.withLock { $0["extend/\(fixture.id)"] } == 1)
    }
  }

  @Test func `a timer fires once, at its time`() async throws {
    try await WorkerHarness.run(Reminder.self) { harness in
      try await harness.receive(.didRenew)
      try await harness.advance(by: .seconds(3_599))
      #expect(try await harness.events().isEmpty)
      try await harness.advance(by: .seconds(1))
      #expect(try await harness.events().map(\.name) == ["reminded"])
      try await harness.advance(by: .seconds(10_000))
      #expect(try await harness.events().count == 1)
    }
  }
}
