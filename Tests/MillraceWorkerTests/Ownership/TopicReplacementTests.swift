// Tests that a worker stops, and says so, if a topic was deleted and created again, or lost its end; and that the
// operator's decision lets it continue without a loss and without a repetition.

import AppStore
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct TopicReplacementTests {
  private static let live = TopicPartition(topic: WorkerFleet.live, partition: 0)

  private static func ids(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)\($0)" } }

  /// A worker that has handled four notifications and has stopped or runs.
  private func worker(
    _ book: Book, isRunning: Bool = true, commit: KafkaSettings.Commit = .transactional
  ) async throws -> (fleet: WorkerFleet, process: FleetProcess) {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    let process = fleet.start("p", isKept: false, FleetHandler(book))
    for id in Self.ids("old", 4) { try fleet.put(id, key: id) }
    try #require(await fleet.until { fleet.answered().count == 4 && fleet.isRead() } != nil)
    if !isRunning {
      await process.leave()
      try #require(await fleet.end(of: process) != nil)
    }
    return (fleet, process)
  }

  /// Requires that a process ends because of a partition, and commits nothing more.
  private func requireStop(
    _ process: FleetProcess, _ fleet: WorkerFleet, of partition: TopicPartition, saying text: String,
    _ committed: [CommittedOffset]? = nil
  ) async throws {
    let end = try #require(await fleet.end(of: process))
    let error = try #require(end.error as? MillraceError, "\(String(describing: end.error))")
    #expect(error.area == .topics && error.problems.first?.place == "\(partition)")
    #expect(error.description.contains(text), "\(error)")
    if let committed { #expect(fleet.log.committedOffsets(of: fleet.topics.group) == committed) }
  }

  /// Sets the offset of the live topic as the operator does, and requires that the worker handles everything in the
  /// topic once.
  private func requireEverything(_ wanted: [String], after fleet: WorkerFleet, _ book: Book) async throws {
    let offset = try #require(
      fleet.log.committedOffsets(of: fleet.topics.group).first { $0.partition == Self.live })
    #expect(OffsetMark(offset.metadata).last?.offset == 3, "the stopping worker has not changed the offset")
    let again = fleet.start("p", isKept: false, FleetHandler(book))
    try await requireStop(again, fleet, of: Self.live, saying: "--to-earliest")
    fleet.log.resetOffsets(of: fleet.topics.group, to: [Self.live: 0])
    let last = fleet.start("p", isKept: false, FleetHandler(book))
    #expect(await fleet.until { Set(wanted).isSubset(of: fleet.answered()) && fleet.isRead() } != nil)
    #expect(fleet.answered().count == Set(fleet.answered()).count, "\(fleet.answered())")
    await last.leave()
    _ = await fleet.end(of: last)
  }

  // MARK: - A topic that is read

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a running worker stops if its topic was created again`(_ commit: KafkaSettings.Commit) async throws {
    let book = Book()
    let (fleet, process) = try await worker(book, commit: commit)
    let committed = fleet.log.committedOffsets(of: fleet.topics.group)
    fleet.log.recreateTopic(WorkerFleet.live)
    for id in Self.ids("new", 2) + ["old1"] { try fleet.put(id, key: id) }
    try await requireStop(process, fleet, of: Self.live, saying: "--to-earliest", committed)
    #expect(fleet.answered().count == 4)
    try await requireEverything(Self.ids("new", 2), after: fleet, book)
    #expect(book.runs["old1"] == 1, "the ledger lists it")
  }

  @Test(arguments: [false, true])
  func `a topic that was created again is found although it is longer and was read on`(
    isStopped: Bool
  ) async throws {
    let book = Book()
    let (fleet, process) = try await worker(book)
    // The process sees nothing of it: its next fetch finds a record at its position.
    process.log.pause()
    fleet.log.recreateTopic(WorkerFleet.live)
    for id in Self.ids("new", 6) { try fleet.put(id, key: id) }
    process.log.resume()
    #expect(await fleet.until { fleet.answered().contains("new5") && fleet.isRead() } != nil)
    await process.measureLag()
    #expect(!process.isOver, "the end shows nothing")
    if isStopped {
      await process.leave()
      #expect(await fleet.end(of: process)?.error == nil)
      let next = fleet.start("q", isKept: false, FleetHandler(book))
      try await requireStop(next, fleet, of: Self.live, saying: "does not have the record")
    } else {
      async let looked: Void = process.checkTopics()
      try await requireStop(process, fleet, of: Self.live, saying: "does not have the record")
      await looked
    }
    fleet.log.resetOffsets(of: fleet.topics.group, to: [Self.live: 0])
    let last = fleet.start("p", isKept: false, FleetHandler(book))
    #expect(await fleet.until { fleet.answered().count == 10 && fleet.isRead() } != nil)
    #expect(Set(fleet.answered()).count == 10)
    await last.crash()
  }

  @Test func `a worker does not start with a topic that was created again`() async throws {
    for count in [0, 3, 4, 9] {
      let book = Book()
      let (fleet, _) = try await worker(book, isRunning: false)
      fleet.log.recreateTopic(WorkerFleet.live)
      for id in Self.ids("new", count) { try fleet.put(id, key: id) }
      try await requireEverything(Self.ids("new", count), after: fleet, book)
    }
  }

  @Test func `a worker does not start with a topic that lost its end`() async throws {
    for count in [0, 1, 5] {
      let book = Book()
      let (fleet, _) = try await worker(book, isRunning: false)
      try fleet.log.truncate(Self.live, to: 3)
      for id in Self.ids("new", count) { try fleet.put(id, key: id) }
      try await requireEverything(Self.ids("new", count), after: fleet, book)
    }
  }

  @Test func `a running worker stops if its topic lost its end`() async throws {
    let book = Book()
    let (fleet, process) = try await worker(book)
    let committed = fleet.log.committedOffsets(of: fleet.topics.group)
    process.log.pause()
    try fleet.log.truncate(Self.live, to: 3)
    process.log.resume()
    async let measured: Void = process.measureLag()
    try await requireStop(process, fleet, of: Self.live, saying: "ends at 3", committed)
    await measured
  }

  @Test func `a running worker stops if its retry topic was created again`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    let process = fleet.start(
      "p", isKept: false,
      FleetHandler(book) { item, recorder in
        if item.attempt == 0 { throw HandlerFailed("first try") }
        return try await FleetHandler.answer(item, recorder)
      })
    try fleet.put("a", key: "a")
    let retry = TopicPartition(topic: fleet.topics.retries[0], partition: 0)
    #expect(await fleet.until { fleet.answered() == ["a"] && fleet.isRead() } != nil)
    fleet.log.recreateTopic(retry.topic)
    async let measured: Void = process.measureLag()
    try await requireStop(process, fleet, of: retry, saying: "--topic \(retry.topic)")
    await measured
  }

  @Test func `a worker whose last record was deleted by retention starts`() async throws {
    let book = Book()
    let (fleet, _) = try await worker(book, isRunning: false)
    try fleet.log.trim(Self.live, before: 4)
    try fleet.put("new", key: "k")
    let again = fleet.start("p", isKept: false, FleetHandler(book))
    #expect(await fleet.until { fleet.answered().contains("new") && fleet.isRead() } != nil)
    await again.checkTopics()
    #expect(!again.isOver)
    await again.crash()
  }

  @Test func `offsets without a mark are trusted, and get one`() async throws {
    let book = Book()
    let (fleet, _) = try await worker(book, isRunning: false)
    fleet.log.resetOffsets(of: fleet.topics.group, to: [Self.live: 4])
    let again = fleet.start("p", isKept: false, FleetHandler(book))
    try fleet.put("new", key: "k")
    #expect(await fleet.until { fleet.answered().contains("new") && fleet.isRead() } != nil)
    await again.leave()
    _ = await fleet.end(of: again)
    let offset = fleet.log.committedOffsets(of: fleet.topics.group).first { $0.partition == Self.live }
    #expect(offset.flatMap { OffsetMark($0.metadata).last?.offset } == 4)
  }

  @Test func `a worker that starts at the end does not skip a topic that was created again`() async throws {
    let other = "appstore.notifications.refunds"
    let fleet = try WorkerFleet(lanes: 1, inputs: [WorkerFleet.live, other]) { $0.start = .latest }
    let book = Book()
    let first = fleet.start("p", isKept: false, FleetHandler(book))
    #expect(await fleet.until { first.readiness?.isReady == true && fleet.isRead() } != nil)
    try fleet.put("old", key: "k")
    #expect(await fleet.until { fleet.answered() == ["old"] && fleet.isRead() } != nil)
    await first.leave()
    _ = await fleet.end(of: first)
    // The brokers delete the offset of this topic only.
    fleet.log.recreateTopic(WorkerFleet.live, forgettingOffsets: true)
    try fleet.put("new", key: "k")
    let again = fleet.start("p", isKept: false, FleetHandler(book))
    let end = await fleet.end(of: again)
    let text = "\(try #require(end?.error))"
    #expect(text.contains("workers.mill.start") && text.contains("offsets of \(WorkerFleet.live) in"), "\(text)")
    fleet.log.resetOffsets(of: fleet.topics.group, to: [Self.live: 0])
    let last = fleet.start("p", isKept: false, FleetHandler(book))
    #expect(await fleet.until { fleet.answered() == ["old", "new"] && fleet.isRead() } != nil)
    await last.crash()
  }

  @Test func `a source that a worker has not had before starts at the end`() async throws {
    let other = "appstore.notifications.refunds"
    let fleet = try WorkerFleet(lanes: 1, inputs: [WorkerFleet.live, other]) { $0.start = .latest }
    let book = Book()
    // The ledger of a worker that has had one source only.
    let record = EntryRecord(.counter(LedgerIdentity.counter(ofSource: WorkerFleet.live), 1))
    try fleet.log.append(
      ProducerRecord(topic: fleet.topics.ledger, partition: 0, key: record.key, value: record.value))
    let group = try fleet.log.makeReader(
      group: fleet.topics.group, topics: [WorkerFleet.live], options: LogReaderOptions())
    let joined = Task { try await group.run() }
    for await event in group.events {
      guard case .assigned = event else { continue }
      try await group.commit([CommittedOffset(Self.live, offset: 0)])
      break
    }
    group.shutDown()
    try await joined.value
    var before = fleet.record("before", key: "k")
    before.topic = other
    try fleet.log.append(before)
    let process = fleet.start("p", isKept: false, FleetHandler(book))
    #expect(await fleet.until { process.readiness?.isReady == true } != nil)
    var after = fleet.record("after", key: "k")
    after.topic = other
    try fleet.log.append(after)
    #expect(await fleet.until { fleet.answered().contains("after") } != nil)
    #expect(fleet.answered() == ["after"])
    await process.crash()
  }

  // MARK: - The ledger

  @Test func `a lane without its ledger waits for the operator's decision`() async throws {
    for isEmptied in [false, true] {
      for isFromStart in [false, true] {
        let book = Book()
        let (fleet, _) = try await worker(book, isRunning: false)
        let ledger = TopicPartition(topic: fleet.topics.ledger, partition: 0)
        if isEmptied { try fleet.log.trim(ledger, before: .max) } else { fleet.log.recreateTopic(ledger.topic) }
        for attempt in 0..<2 {
          let process = fleet.start("p\(attempt)", isKept: false, FleetHandler(book))
          try await requireStop(process, fleet, of: ledger, saying: "effects can repeat")
        }
        let offsets = fleet.log.committedOffsets(of: fleet.topics.group).map {
          ($0.partition, isFromStart ? 0 : $0.offset)
        }
        fleet.log.resetOffsets(of: fleet.topics.group, to: Dictionary(uniqueKeysWithValues: offsets))
        let last = fleet.start("p", isKept: false, FleetHandler(book))
        try fleet.put("new", key: "k")
        #expect(await fleet.until { fleet.answered().contains("new") && fleet.isRead() } != nil)
        #expect(fleet.answered().count == (isFromStart ? 9 : 5))
        await last.checkTopics()
        await last.leave()
        #expect(await fleet.end(of: last)?.error == nil)
      }
    }
  }

  @Test func `a lane whose ledger lost its end does not start`() async throws {
    let book = Book()
    let (fleet, process) = try await worker(book)
    await process.measureLag()
    try fleet.put("more", key: "k")
    #expect(await fleet.until { fleet.answered().contains("more") && fleet.isRead() } != nil)
    await process.leave()
    _ = await fleet.end(of: process)
    let ledger = TopicPartition(topic: fleet.topics.ledger, partition: 0)
    try fleet.log.truncate(ledger, to: 3)
    let again = fleet.start("p", isKept: false, FleetHandler(book))
    try await requireStop(again, fleet, of: ledger, saying: "ends at")
  }

  @Test func `a running worker stops if its ledger was created again`() async throws {
    for isLonger in [false, true] {
      let book = Book()
      let (fleet, process) = try await worker(book)
      let ledger = TopicPartition(topic: fleet.topics.ledger, partition: 0)
      fleet.log.recreateTopic(ledger.topic)
      if isLonger {
        for id in Self.ids("more", 30) {
          try fleet.put(id, key: id)
          await fleet.until { fleet.answered().contains(id) && fleet.isRead() }
        }
      }
      async let looked: Void = isLonger ? process.checkTopics() : process.measureLag()
      try await requireStop(process, fleet, of: ledger, saying: "--to-current")
      await looked
    }
  }

  @Test func `a lane that returns to a process compares the ledger that the process has kept`() async throws {
    let book = Book()
    let (fleet, process) = try await worker(book)
    let ledger = TopicPartition(topic: fleet.topics.ledger, partition: 0)
    // The lane moves to a second member, whose name is first in the order of the assignor, and returns.
    let second = fleet.start("a", isKept: false, FleetHandler(book))
    #expect(await fleet.until { await second.lanes() == [0] } != nil)
    fleet.log.recreateTopic(ledger.topic)
    for _ in 0..<40 { try fleet.log.append(ProducerRecord(topic: ledger.topic, partition: 0, key: [0x6F], value: [1])) }
    await second.leave()
    let end = try #require(await fleet.end(of: process))
    #expect("\(try #require(end.error))".contains("--to-current"))
  }

  @Test func `an identity is a counter, which every version reads and no command shows`() throws {
    let entry = LedgerIdentity.entry(0xAB)
    let record = EntryRecord(entry)
    #expect(try record.entry() == entry)
    let stored = ConsumerRecord(
      topic: "l", partition: 0, offset: 7, timestamp: nil, key: record.key, value: record.value)
    #expect(LedgerIdentity(stored) == LedgerIdentity(number: 0xAB, offset: 7))
    let division = try #require(LaneDivision(from: 2, to: 4))
    #expect(try division.lanes(ofLedgerKey: record.key, value: record.value, in: 1) == [])
  }

  // MARK: - Deleted records

  @Test func `records that were deleted ahead of a running worker are counted`() async throws {
    let book = Book()
    let (fleet, process) = try await worker(book)
    await process.measureLag()
    // The worker has already skipped the deleted records when it measures.
    process.log.pause()
    for id in Self.ids("new", 6) { try fleet.put(id, key: id) }
    try fleet.log.trim(Self.live, before: 9)
    process.log.resume()
    #expect(await fleet.until { fleet.answered().contains("new5") && fleet.isRead() } != nil)
    await process.measureLag()
    #expect(lost(fleet) == 5)
    // Retention that deletes handled records is no loss.
    try fleet.log.trim(Self.live, before: 10)
    await process.measureLag()
    await process.checkTopics()
    #expect(lost(fleet) == 5 && !process.isOver)
    await process.crash()
  }
  @Test func `deleted records are counted once if their lane starts again`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let gate = Latch()
    let handler = FleetHandler(Book()) { item, recorder in
      if item.id == "new5" { try await gate.wait() }
      return try await FleetHandler.answer(item, recorder)
    }
    let process = fleet.start("p", isKept: false, handler)
    for id in Self.ids("old", 4) { try fleet.put(id, key: id) }
    try #require(await fleet.until { fleet.answered().count == 4 && fleet.isRead() } != nil)
    await process.measureLag()
    process.log.pause()
    for id in Self.ids("new", 6) { try fleet.put(id, key: id) }
    try fleet.log.trim(Self.live, before: 9)
    process.log.resume()
    #expect(await fleet.until { await process.held() == 1 } != nil)
    await process.measureLag()
    #expect(lost(fleet) == 5)
    // The committed offset is still before the deleted records when the lane starts again.
    process.log.fail(
      .commitTransaction, with: [KafkaError(code: .fenced, operation: "test", reason: "test", isFatal: true)])
    gate.open()
    #expect(await fleet.until { fleet.answered().contains("new5") && fleet.isRead() } != nil)
    #expect(lost(fleet) == 5 && fleet.rejoins() == ["fenced": 1])
    await process.crash()
  }

  @Test func `a measurement of a lane that has started again loses nothing`() {
    func source(read: Int64, passed: Int64) -> LaneProgress.Source { .init(read: read, committed: 0, passed: passed) }
    let last = source(read: 100, passed: 50)
    #expect(source(read: 120, passed: 0).lost(since: last, before: 110) == nil)
    #expect(source(read: 100, passed: 50).lost(since: last, before: 100) == nil)
    #expect(source(read: 105, passed: 50).lost(since: last, before: 130) == 105..<130, "still to read")
    #expect(source(read: 140, passed: 70).lost(since: last, before: 130) == 110..<130, "skipped")
    #expect(source(read: 140, passed: 99).lost(since: last, before: 130) == 100..<130, "at most what it had not read")
  }

  /// Returns the number of records of the live topic that were counted as lost.
  private func lost(_ fleet: WorkerFleet) -> Int {
    let line = fleet.metrics.render().split(separator: "\n").first {
      $0.hasPrefix("millrace_worker_records_lost_total{") && $0.contains(WorkerFleet.live)
    }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
  }
}
