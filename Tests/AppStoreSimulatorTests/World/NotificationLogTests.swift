import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct NotificationLogTests {
  private func record(_ sequence: Int64, open: Int, _ generator: inout SeededGenerator) -> NotificationLogEntry {
    NotificationLogEntry(
      facts: NotificationFacts(
        uuid: CompactUUID(using: &generator), sequence: sequence, realm: 0, kind: SampleKind(.test),
        signedDate: .newYear, content: .test), openDeliveries: open)
  }

  @Test func `the newest notifications are kept, and numbers never change`() {
    var generator = SeededGenerator(seed: 1)
    var log = NotificationLog(capacity: 10)
    for sequence in 0..<Int64(5_000) { log.append(record(sequence, open: 0, &generator)) }
    #expect(log.count == 10)
    #expect(log.nextSequence == 5_000)
    #expect(log.records.map(\.facts.sequence) == Array(4_990..<5_000))
    #expect(log[4_995]?.facts.sequence == 4_995)
    #expect(log[4_989] == nil)
    #expect(log[5_000] == nil)
  }

  @Test func `undelivered notifications are kept beyond the limit, without keeping others`() throws {
    var generator = SeededGenerator(seed: 1)
    var log = NotificationLog(capacity: 10)
    for sequence in 0..<Int64(50) { log.append(record(sequence, open: sequence == 3 ? 1 : 0, &generator)) }
    #expect(log.count == 11)
    #expect(log.records.map(\.facts.sequence) == [3] + Array(40..<50))
    let uuid = try #require(log[3]).facts.uuid
    #expect(log[uuid]?.facts.sequence == 3)
    #expect(log[4] == nil && log[39] == nil)
    log.update(3) { $0.attempts = [SendAttempt(date: .newYear, result: .timedOut)] }
    #expect(log[3]?.attempts.count == 1)
    log.update(3) { $0.openDeliveries = 0 }
    #expect(log.count == 10)
    #expect(log[uuid] == nil)
  }

  @Test func `an endpoint that hangs at most doubles the log, which keeps the newest`() {
    var generator = SeededGenerator(seed: 1)
    var log = NotificationLog(capacity: 100)
    for sequence in 0..<Int64(10_000) {
      log.append(record(sequence, open: 1, &generator))
      #expect(log.count <= 200)
    }
    let kept = log.records.map(\.facts.sequence)
    #expect(kept == Array((10_000 - Int64(kept.count))..<10_000))
    #expect(kept.count > 170)
    // When the backlog is delivered, all of it is removed.
    for sequence in kept { log.update(sequence) { $0.openDeliveries = 0 } }
    #expect(log.count == 100)
  }

  @Test func `a notification is found by its number, also while it is undelivered`() {
    var generator = SeededGenerator(seed: 1)
    var log = NotificationLog(capacity: 10)
    for sequence in 0..<Int64(50) { log.append(record(sequence, open: sequence % 10 == 3 ? 1 : 0, &generator)) }
    func behind(_ sequence: Int64) -> [Int64] { log.records(after: sequence).map(\.facts.sequence) }
    #expect(behind(-1) == [3, 13, 23, 33] + Array(40..<50))
    #expect(behind(.min) == behind(-1))
    #expect(behind(13) == [23, 33] + Array(40..<50))
    #expect(behind(33) == Array(40..<50))
    #expect(behind(45) == [46, 47, 48, 49])
    #expect(behind(49).isEmpty && behind(.max).isEmpty)
  }
}
