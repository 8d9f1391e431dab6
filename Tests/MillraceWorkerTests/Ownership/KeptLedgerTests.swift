// Tests how long a process keeps the ledgers of lanes that have left it.

import AppStore
import KafkaClient
import MillraceTesting
import MillraceTime
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct KeptLedgerTests {
  @Test func `a process that loses three of four lanes releases their ledgers after an hour, without another start`()
    async throws
  {
    let fleet = try WorkerFleet(lanes: 4)
    let states = 25_000
    for lane in 0..<4 as Range<Int32> {
      for number in 0..<states {
        let name = "2\(100_000_000_000_000 + Int(lane) * states + number)"
        let record = EntryRecord(.keeping(name, [UInt8](repeating: 7, count: 200), of: Array(name.utf8)))
        try fleet.log.append(
          ProducerRecord(topic: fleet.topics.ledger, partition: lane, key: record.key, value: record.value))
      }
    }
    let before = try ProcessMemory.resident()
    let process = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { await process.lanes() == [0, 1, 2, 3] } != nil)
    let whole = try ProcessMemory.resident()

    // Other members of the group, which take lanes and keep nothing in memory.
    let others = try (0..<3).map { number in
      try fleet.log.process("other\(number)").makeReader(
        group: fleet.topics.group, topics: fleet.topics.sources, options: LogReaderOptions())
    }
    let members = others.map { reader in
      Task {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { do { try await reader.run() } catch { Issue.record("\(error)") } }
          for await event in reader.events { if case .revoked(let revocation) = event { revocation.complete() } }
        }
      }
    }
    #expect(await fleet.until { await process.lanes().count == 1 } != nil)
    let kept = try ProcessMemory.resident()
    await fleet.pass(.seconds(3_500))
    await process.measureLag()
    #expect(await process.keptLedgers() == 3, "a lane that comes back within an hour has its ledger")
    await fleet.pass(.seconds(200))
    await process.measureLag()
    let untrimmed = try ProcessMemory.resident(returningFree: false)
    let released = try ProcessMemory.resident()
    print(
      """
      \(states) states in each lane; four lanes: \(Int(whole - before)) MB, one lane and three that left: \
      \(Int(kept - before)) MB, after an hour: \(Int(released - before)) MB \
      (\(Int(untrimmed - before)) MB before free blocks were returned to the system)
      """)
    #expect(await process.keptLedgers() == 0)
    for member in members { member.cancel() }
    await process.crash()
  }
}
