import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct NotificationLogTests {
  private func record(_ sequence: Int64, open: Int, _ generator: inout SeededGenerator) -> NotificationRecord {
    NotificationRecord(
      facts: NotificationFacts(
        uuid: CompactUUID(using: &generator), sequence: sequence, realm: 0, kind: SampleKind(.test),
        signedDate: .newYear, content: .test), openDeliveries: open)
  }

  @Test func `The newest stay, and numbers never change`() {
    var generator = SeededGenerator(seed: 1)
    var log = NotificationLog(capacity: 10)
    for sequence in 0..<Int64(5_000) { log.append(record(sequence, open: 0, &generator)) }
    #expect(log.count == 10)
    #expect(log.firstSequence == 4_990)
    #expect(log.nextSequence == 5_000)
    #expect(log.records.map(\.facts.sequence) == Array(4_990..<5_000))
    #expect(log[4_995]?.facts.sequence == 4_995)
    #expect(log[4_989] == nil)
    #expect(log[5_000] == nil)
  }

  @Test func `What still waits for its delivery is kept beyond the limit`() throws {
    var generator = SeededGenerator(seed: 1)
    var log = NotificationLog(capacity: 10)
    for sequence in 0..<Int64(50) { log.append(record(sequence, open: sequence == 3 ? 1 : 0, &generator)) }
    #expect(log.firstSequence == 3)
    let uuid = try #require(log[3]).facts.uuid
    #expect(log[uuid]?.facts.sequence == 3)
    log.update(3) { $0.openDeliveries = 0 }
    #expect(log.firstSequence == 40)
    #expect(log[uuid] == nil)
  }
}
