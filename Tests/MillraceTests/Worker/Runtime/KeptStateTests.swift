// What a handler keeps from one notification of a key to the next: as often counted as told, whatever happens to the
// processes in between.

import AppStore
import AppStoreSigning
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct KeptStateTests {
  private static let table = "counts"
  private static let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)

  /// Counts the notifications of each key: in the state, in a table, and as an event.
  @Sendable private static func count(_ item: LaneItem, _ journal: any EffectJournal) async throws -> Outcome {
    let key = String(decoding: item.key, as: UTF8.self)
    let count = (try await journal.state("count/\(key)")?.first ?? 0) + 1
    return try .emit(Counted(key: key, count: Int(count)))
      .keeping("count/\(key)", [count], row: OutputRecord(topic: table, key: key, value: [count]))
  }

  private struct Counted: WorkerEvent {
    static let eventName = "counted"
    var key: String
    var count: Int
  }

  private func mill(lanes: Int) throws -> Mill {
    try Mill(lanes: lanes, tables: [Self.table]) { policy in
      policy.recordsInFlight = 8
      policy.drainTimeout = .seconds(4)
    }
  }

  /// Counts by key, in the order in which a reader of committed records finds them.
  private func counts(_ mill: Mill) throws -> [String: [Int]] {
    var counts: [String: [Int]] = [:]
    for record in mill.log.records(in: mill.topics.events) {
      guard case .object(let data) = try JSON(parsing: record.value ?? []), case .string(let key)? = data["key"],
        case .integer(let count)? = data["count"]
      else { continue }
      counts[key, default: []].append(Int(count))
    }
    return counts
  }

  private func rows(_ mill: Mill) -> [String: [Int]] {
    Dictionary(grouping: mill.log.records(in: Self.table)) { String(decoding: $0.key ?? [], as: UTF8.self) }
      .mapValues { $0.map { Int($0.value?.first ?? 0) } }
  }

  @Test(arguments: UInt64(0)..<8)
  func `each notification of a key sees what the one before it kept, through crashes and aborted commits`(
    seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let mill = try mill(lanes: 3)
    let handler = MillHandler(Book(), Self.count)
    let ids = (0..<90).map { "n\($0)" }
    for (number, id) in ids.enumerated() { try mill.put(id, key: "k\(number % 9)") }
    var processes = (0..<2).map { mill.start("p\($0)", handler) }
    for _ in 0..<30 {
      let index = Int.random(in: processes.indices, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: processes[index].log.pause()
      case 1, 2: processes[index].log.resume()
      case 3:
        await processes[index].crash()
        processes[index] = mill.start("p\(index)", handler)
      case 4: processes[index].log.fail(.commitTransaction, with: [Self.away], reach: .unacknowledged)
      case 5: processes[index].log.fail(.sendOffsets, with: [Self.away])
      default: mill.time.advance(by: .milliseconds(Int64.random(in: 1...3_000, using: &random)))
      }
      for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
    }
    for process in processes { process.log.resume() }
    let isDone = await mill.until {
      Set(mill.answered()).union(mill.dead().keys).isSuperset(of: ids) && mill.isRead()
    }
    #expect(isDone != nil, "seed \(seed)")
    for process in processes { await process.crash() }
    let (counts, ledger) = (try counts(mill), try mill.ledger())
    #expect(counts.values.map(\.count).reduce(0, +) == ids.count - mill.dead().count, "seed \(seed)")
    for (key, told) in counts {
      #expect(told == Array(1...told.count), "seed \(seed), \(key)")
      #expect(ledger.state("count/\(key)")?.first.map { Int($0) } == told.count, "seed \(seed), \(key)")
    }
    #expect(rows(mill) == counts, "seed \(seed)")
  }

  @Test func `a state that is as it was is not written again`() async throws {
    let mill = try mill(lanes: 1)
    let handler = MillHandler(Book()) { item, _ in
      Outcome.ignore.keeping("same", [7], row: OutputRecord(topic: Self.table, key: "same", value: [7]))
    }
    for number in 0..<5 { try mill.put("n\(number)", key: "k") }
    let process = mill.start("p", handler)
    #expect(await mill.until { mill.isRead() } != nil)
    await process.crash()
    #expect(rows(mill) == ["same": [7]])
    let written = try mill.log.records(in: mill.topics.ledger).filter { record in
      let entry = try LedgerRecord(key: record.key ?? [], value: record.value).entry()
      return if case .state = entry { true } else { false }
    }
    #expect(written.count == 1)
  }

  @Test func `a state that is too large makes a dead letter, and nothing of the outcome is written`() async throws {
    let mill = try mill(lanes: 1)
    let handler = MillHandler(Book()) { item, journal in
      try await MillHandler.answer(item, journal)
        .keeping("big", [UInt8](repeating: 0, count: Outcome.State.maximumBytes))
    }
    try mill.put("n", key: "k")
    let process = mill.start("p", handler)
    #expect(await mill.until { mill.isRead() } != nil)
    await process.crash()
    #expect(mill.dead() == ["n": "outcome-too-large"])
    #expect(mill.answered().isEmpty)
  }

  @Test func `a timer finds nobody of its key beside it`() async throws {
    let mill = try mill(lanes: 1)
    let (time, book) = (mill.time, Book())
    var handler = MillHandler(book) { item, journal in
      let counted = try await Self.count(item, journal)
      // The timer of the one before falls due while this one knows the count and has not told it.
      time.advance(by: .seconds(2))
      for _ in 0..<2_000 { await Task.yield() }
      return counted.settingTimer("of/\(item.id)", at: time.clock.wallTime + .seconds(1))
    }
    handler.fired = { timer, journal in
      let count = (try await journal.state("count/k")?.first ?? 0) + 1
      for _ in 0..<200 { await Task.yield() }
      return try .emit(Counted(key: "k", count: Int(count))).keeping("count/k", [count])
    }
    let process = mill.start("p", handler)
    for number in 0..<6 {
      try mill.put("n\(number)", key: "k")
      #expect(await mill.until { book.runs["n\(number)"] != nil } != nil)
    }
    #expect(await mill.until { book.runs["of/n5"] != nil && mill.isRead() } != nil)
    #expect(await mill.until { (try? self.counts(mill)["k"]?.count) == 12 } != nil)
    #expect(try counts(mill)["k"] == Array(1...12), "each saw what the one before it kept")
    #expect(book.mostRunning == 1)
    await process.crash()
  }

  @Test func `a timer that a notification withdrew while both waited does not fire`() async throws {
    let mill = try mill(lanes: 1)
    let (time, book) = (mill.time, Book())
    let process = mill.start(
      "p",
      MillHandler(book) { item, _ in
        if item.id == "first" { return .ignore.settingTimer("t", at: time.clock.wallTime + .seconds(5)) }
        time.advance(by: .seconds(10))
        for _ in 0..<2_000 { await Task.yield() }
        return .ignore.cancellingTimer("t")
      })
    try mill.put("first", key: "k")
    #expect(await mill.until { mill.isRead() } != nil)
    try mill.put("second", key: "k")
    #expect(await mill.until { mill.isRead() } != nil)
    try mill.put("third", key: "k")
    #expect(await mill.until { mill.isRead() } != nil)
    #expect(book.runs["t"] == nil && book.runs.count == 3)
    await process.crash()
  }
}
