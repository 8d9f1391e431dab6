// Tests the state that handlers keep for a key. It counts each notification once, even if processes crash in between.

import AppStore
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct KeptStateTests {
  private static let table = "counts"
  private static let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)

  /// Counts the notifications of each key in the state, in a table, and in an event.
  @Sendable private static func count(_ item: LaneItem, _ recorder: any EffectRecorder) async throws -> Outcome {
    let key = String(decoding: item.key, as: UTF8.self)
    let count = (try await recorder.state("count/\(key)")?.first ?? 0) + 1
    return .done(
      try .emitting(Counted(key: key, count: Int(count)))
        .keeping("count/\(key)", [count], row: OutputRecord(topic: table, key: key, value: [count])))
  }

  private struct Counted: WorkerEvent {
    static let eventName = "counted"
    var key: String
    var count: Int
  }

  private func fleet(lanes: Int) throws -> WorkerFleet {
    try WorkerFleet(lanes: lanes, tables: [Self.table]) { policy in
      policy.recordsInFlight = 8
      policy.drainTimeout = .seconds(4)
    }
  }

  /// Returns the counts of each key, in the order of committed events.
  private func counts(_ fleet: WorkerFleet) throws -> [String: [Int]] {
    var counts: [String: [Int]] = [:]
    for record in fleet.log.records(in: fleet.topics.events) {
      guard case .object(let data) = try JSON(parsing: record.value ?? []), case .string(let key)? = data["key"],
        case .integer(let count)? = data["count"]
      else { continue }
      counts[key, default: []].append(Int(count))
    }
    return counts
  }

  private func rows(_ fleet: WorkerFleet) -> [String: [Int]] {
    Dictionary(grouping: fleet.log.records(in: Self.table)) { String(decoding: $0.key ?? [], as: UTF8.self) }
      .mapValues { $0.map { Int($0.value?.first ?? 0) } }
  }

  @Test(arguments: UInt64(0)..<8)
  func `a notification sees the state of its predecessor through crashes and aborted commits`(
    seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let fleet = try fleet(lanes: 3)
    let handler = FleetHandler(Book(), Self.count)
    let ids = (0..<90).map { "n\($0)" }
    for (number, id) in ids.enumerated() { try fleet.put(id, key: "k\(number % 9)") }
    var processes = (0..<2).map { fleet.start("p\($0)", handler) }
    for _ in 0..<30 {
      let index = Int.random(in: processes.indices, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: processes[index].log.pause()
      case 1, 2: processes[index].log.resume()
      case 3:
        await processes[index].crash()
        processes[index] = fleet.start("p\(index)", handler)
      case 4: processes[index].log.fail(.commitTransaction, with: [Self.away], reach: .unacknowledged)
      case 5: processes[index].log.fail(.sendOffsets, with: [Self.away])
      default: fleet.time.advance(by: .milliseconds(Int64.random(in: 1...3_000, using: &random)))
      }
      for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
    }
    for process in processes { process.log.resume() }
    let isDone = await fleet.until {
      Set(fleet.answered()).union(fleet.dead().keys).isSuperset(of: ids) && fleet.isRead()
    }
    #expect(isDone != nil, "seed \(seed)")
    for process in processes { await process.crash() }
    let (counts, ledger) = (try counts(fleet), try fleet.ledger())
    #expect(counts.values.map(\.count).reduce(0, +) == ids.count - fleet.dead().count, "seed \(seed)")
    for (key, told) in counts {
      #expect(told == Array(1...told.count), "seed \(seed), \(key)")
      #expect(ledger.state("count/\(key)")?.first.map { Int($0) } == told.count, "seed \(seed), \(key)")
    }
    #expect(rows(fleet) == counts, "seed \(seed)")
  }

  @Test func `an unchanged state is not written again`() async throws {
    let fleet = try fleet(lanes: 1)
    let handler = FleetHandler(Book()) { item, _ in
      .done(.keeping("same", [7], row: OutputRecord(topic: Self.table, key: "same", value: [7])))
    }
    for number in 0..<5 { try fleet.put("n\(number)", key: "k") }
    let process = fleet.start("p", handler)
    #expect(await fleet.until { fleet.isRead() } != nil)
    await process.crash()
    #expect(rows(fleet) == ["same": [7]])
    let written = fleet.log.records(in: fleet.topics.ledger).filter { $0.key?.first == UInt8(ascii: "s") }
    #expect(written.count == 1)
  }

  @Test func `an oversize state makes a dead letter, and the outcome is not written`() async throws {
    let fleet = try fleet(lanes: 1)
    let handler = FleetHandler(Book()) { item, recorder in
      .done(
        try .emitting(FleetHandler.Answer(id: item.id))
          .keeping("big", [UInt8](repeating: 0, count: Outcome.State.maximumBytes)))
    }
    try fleet.put("n", key: "k")
    let process = fleet.start("p", handler)
    #expect(await fleet.until { fleet.isRead() } != nil)
    await process.crash()
    #expect(fleet.dead() == ["n": "outcome-too-large"])
    #expect(fleet.answered().isEmpty)
  }

  @Test func `a timer does not run at the same time as a notification of its key`() async throws {
    let fleet = try fleet(lanes: 1)
    let (time, book) = (fleet.time, Book())
    var handler = FleetHandler(book) { item, recorder in
      let counted = try await Self.count(item, recorder)
      // The timer of the previous notification falls due while this handler has read the count but not written it.
      time.advance(by: .seconds(2))
      for _ in 0..<2_000 { await Task.yield() }
      return counted.settingTimer("of/\(item.id)", at: time.clock.wallTime + .seconds(1))
    }
    handler.fired = { timer, recorder in
      let count = (try await recorder.state("count/k")?.first ?? 0) + 1
      for _ in 0..<200 { await Task.yield() }
      return .done(try .emitting(Counted(key: "k", count: Int(count))).keeping("count/k", [count]))
    }
    let process = fleet.start("p", handler)
    for number in 0..<6 {
      try fleet.put("n\(number)", key: "k")
      #expect(await fleet.until { book.runs["n\(number)"] != nil } != nil)
    }
    #expect(await fleet.until { book.runs["of/n5"] != nil && fleet.isRead() } != nil)
    #expect(await fleet.until { (try? self.counts(fleet)["k"]?.count) == 12 } != nil)
    #expect(try counts(fleet)["k"] == Array(1...12), "each run must see the state of the previous one")
    #expect(book.mostRunning == 1)
    await process.crash()
  }

  @Test func `a timer that a notification cancels while both are waiting does not fire`() async throws {
    let fleet = try fleet(lanes: 1)
    let (time, book) = (fleet.time, Book())
    let process = fleet.start(
      "p",
      FleetHandler(book) { item, _ in
        if item.id == "first" { return .ignore.settingTimer("t", at: time.clock.wallTime + .seconds(5)) }
        time.advance(by: .seconds(10))
        for _ in 0..<2_000 { await Task.yield() }
        return .ignore.cancellingTimer("t")
      })
    try fleet.put("first", key: "k")
    #expect(await fleet.until { fleet.isRead() } != nil)
    try fleet.put("second", key: "k")
    #expect(await fleet.until { fleet.isRead() } != nil)
    try fleet.put("third", key: "k")
    #expect(await fleet.until { fleet.isRead() } != nil)
    #expect(book.runs["t"] == nil && book.runs.count == 3)
    await process.crash()
  }
}
