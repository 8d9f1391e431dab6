import AppStore
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceTesting
import Operations
import Testing

@testable import Console
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct TimelineMergeTests {
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `all entries are merged newest first, and each offset is read once`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var logs: [TopicPartition: [(at: Int64, isOurs: Bool)]] = [:]
    for number in 0..<Int32.random(in: 1...6, using: &random) {
      var time = Int64.random(in: 0...50_000, using: &random)
      logs[TopicPartition(topic: "t", partition: number)] = (0..<Int.random(in: 0...3_000, using: &random)).map { _ in
        time += Int64.random(in: 0...20, using: &random)
        return (time, Int.random(in: 0..<40, using: &random) == 0)
      }
    }
    let since = Int64.random(in: 0...60_000, using: &random)
    var merge = TimelineMerge(
      logs.mapValues { 0..<Int64($0.count) }, since: Timestamp(millisecondsSince1970: since))
    var told: [Int64] = []
    var read: Set<RecordPosition> = []
    while true {
      if let step = merge.step {
        let log = logs[step.partition] ?? []
        for offset in step.offsets {
          let isNew = read.insert(RecordPosition(topic: "t", partition: step.partition.partition, offset: offset))
            .inserted
          #expect(isNew)
        }
        let entries = step.offsets.filter { log[Int($0)].isOurs }.map { offset in
          TimelineEntry(
            kind: .event, at: Timestamp(millisecondsSince1970: log[Int(offset)].at), title: "", place: "",
            position: RecordPosition(topic: "t", partition: step.partition.partition, offset: offset), facts: [])
        }
        merge.add(
          step, entries, oldest: Timestamp(millisecondsSince1970: log[Int(step.offsets.lowerBound)].at))
      } else if let entry = merge.next() {
        told.append(entry.at.millisecondsSince1970)
      } else {
        break
      }
    }
    let expected = logs.values.flatMap { $0.filter { $0.isOurs && $0.at >= since }.map(\.at) }.sorted(by: >)
    #expect(told == expected)
  }

  @Test func `the newest entries are returned before older offsets are read`() {
    let lane = TopicPartition(topic: "t", partition: 0)
    var merge = TimelineMerge([lane: 0..<100_000], since: Timestamp(millisecondsSince1970: 0))
    let step = merge.step
    #expect(step?.offsets == 99_500..<100_000)
    if let step {
      let entry = TimelineEntry(
        kind: .event, at: Timestamp(millisecondsSince1970: 99_800), title: "", place: "",
        position: RecordPosition(topic: "t", partition: 0, offset: 99_800), facts: [])
      merge.add(step, [entry], oldest: Timestamp(millisecondsSince1970: 99_500))
    }
    #expect(merge.next()?.at.millisecondsSince1970 == 99_800)
    #expect(merge.step?.offsets == 98_500..<99_500)
  }
}

@Suite(.timeLimit(.minutes(15))) struct TimelineReaderTests {
  private let time = ManualClock(start: Deployment.now)
  private let log: InMemoryLog
  private let topics: ConsoleTopics
  private let key = "2000000123456789"

  init() throws {
    log = InMemoryLog(clock: time.clock)
    topics = try Deployment.topics()
    for topic in try Deployment.catalog().topics { try log.createTopic(topic.topic, partitions: topic.lanes) }
  }

  private func timeline(
    since: Timestamp = Deployment.now - .seconds(86_400), showsPayloads: Bool = false
  ) async throws -> (entries: [TimelineEntry], scanned: Int64) {
    var entries: [TimelineEntry] = []
    var scanned: Int64 = 0
    let reader = TimelineReader(
      log: log, builder: TimelineBuilder(topics: topics, subject: key, showsPayloads: showsPayloads))
    let isWhole = try await reader.follow(since: since) { news in
      switch news {
      case .entry(let entry): entries.append(entry)
      case .progress(let count, _): scanned = count
      }
    }
    #expect(isWhole)
    return (entries, scanned)
  }

  private func append(_ records: [ProducerRecord]) throws { for record in records { try log.append(record) } }

  @Test func `a timeline has the notifications, events, delays and dead letters of its purchase only`() async throws {
    func at(_ second: Int64) -> Timestamp { Deployment.now - .seconds(1_000 - second) }
    try append([
      Written.notification("n1", key: key, type: "SUBSCRIBED", family: "subscriptions", at: at(1)),
      Written.notification("n2", key: key, at: at(2)),
      Written.delayed("n2", key: key, row: "1m", due: at(60), at: at(3)),
      Written.event("entitlement.revoked", worker: "refunds", key: key, about: "n2", at: at(4)),
      Written.deadLetter("n3", key: key, at: at(5)),
      Written.notification("n4", key: key, at: at(-100_000)),
      Written.notification("n5", key: "2000000000000000", at: at(6)),
    ])
    for number in 0..<300 { try log.append(Written.notification("x\(number)", key: "\(number)", at: at(7))) }
    let (entries, scanned) = try await timeline()
    #expect(entries.map(\.kind) == [.dead, .event, .delayed, .notification, .notification])
    #expect(entries.map(\.title) == ["handler-error", "entitlement.revoked", "REFUND", "REFUND", "SUBSCRIBED"])
    #expect(entries.allSatisfy { $0.payload == nil })
    // Only the key's lane of each topic was scanned.
    #expect(scanned < 200, "\(scanned)")
  }

  @Test func `payloads are shown only to users who may see them`() async throws {
    try append([Written.event("entitlement.revoked", worker: "refunds", key: key, about: "n", at: Deployment.now)])
    #expect(try await timeline().entries.first?.payload == nil)
    #expect(try await timeline(showsPayloads: true).entries.first?.payload?.contains("a@b.c") == true)
  }

  @Test func `a call is one entry with its end, and a withdrawn one that is made again is two`() async throws {
    func at(_ second: Int64) -> Timestamp { Deployment.now - .seconds(1_000 - second) }
    let calls: [(name: String, code: UInt8?)] = [
      ("extend/a/\(key)", 1), ("extend/b/\(key)", 1), ("extend/a/\(key)", nil), ("extend/b/\(key)", 2),
      ("extend/a/\(key)", 1), ("extend/c/\(key)", nil), ("extend/d/2000000000000000", 1),
    ]
    for (second, call) in calls.enumerated() {
      try log.append(
        Written.call(call.name, code: call.code, worker: "renewal-extensions", key: key, at: at(Int64(second))))
    }
    let entries = try await timeline(showsPayloads: true).entries
    #expect(entries.allSatisfy { $0.kind == .call && $0.title == "extend" })
    func facts(_ name: String) -> [String?] {
      entries.reversed().map { entry in entry.facts.first { $0.name == name }?.value }
    }
    let (open, answered, withdrawn) = ("not known yet", "answered", "withdrawn: it was not made")
    #expect(facts("outcome") == [withdrawn, answered, open, withdrawn])
    #expect(facts("intended").map { $0 == nil } == [true, false, false, true])
    #expect(entries.reversed().map(\.payload) == [nil, "told", nil, nil])
  }

  private func delayed(
    _ id: String, attempt: Int, first: Int64, causes: [String], run: String? = nil, at time: Timestamp
  ) -> ProducerRecord {
    var record = Written.delayed(id, key: key, row: attempt < 3 ? "1m" : "10m", due: time + .seconds(60), at: time)
    record.headers.removeAll { $0.name == "millrace-attempt" }
    record.headers += [
      RecordHeader("millrace-attempt", "\(attempt)"), RecordHeader("millrace-first-topic", "t"),
      RecordHeader("millrace-first-partition", "0"), RecordHeader("millrace-first-offset", "\(first)"),
    ]
    record.headers += causes.map { RecordHeader("millrace-cause", $0) }
    if let run {
      record.headers += [RecordHeader("ce_replayid", run), RecordHeader("millrace-replay-mode", "requeue")]
    }
    return record
  }

  @Test func `the delays of one record are one entry with every reason, and a requeue begins another`() async throws {
    func at(_ second: Int64) -> Timestamp { Deployment.now - .seconds(1_000 - second) }
    try append([
      delayed("n1", attempt: 1, first: 7, causes: ["a"], at: at(1)),
      delayed("n1", attempt: 2, first: 7, causes: ["a", "b"], at: at(2)),
      delayed("n2", attempt: 1, first: 8, causes: ["x"], at: at(3)),
      delayed("n1", attempt: 3, first: 7, causes: ["a", "b", "c"], at: at(4)),
      delayed("n1", attempt: 1, first: 7, causes: ["d"], run: "r1", at: at(5)),
    ])
    let entries = try await timeline().entries
    #expect(entries.allSatisfy { $0.kind == .delayed })
    let causes = entries.map { entry in entry.facts.filter { $0.name == "because" }.map(\.value) }
    #expect(causes == [["d"], ["a", "b", "c"], ["x"]])
    let json = try JSONObject(parsing: Array(entries[1].jsonLine.utf8))
    let facts: JSONObject = [
      "attempts": "3", "due": json.facts["due"] ?? .null, "because": .array(["a", "b", "c"]),
    ]
    #expect(json.facts == facts)
    #expect(entries[1].lines(usesColor: false).joined(separator: "\n").contains("because   b"))
  }

  /// Commits offsets as a worker's group.
  private func commit(_ offsets: [TopicPartition: Int64], as group: String) async throws {
    let topics = Set(offsets.keys.map(\.topic)).sorted()
    let reader = try log.makeReader(group: group, topics: topics, options: LogReaderOptions())
    let running = Task { try await reader.run() }
    for await event in reader.events {
      if case .assigned = event { break }
    }
    try await reader.commit(offsets.map { CommittedOffset($0.key, offset: $0.value) })
    reader.shutDown()
    try await running.value
  }

  @Test func `a notification has the outcome of every worker that reads its topic`() async throws {
    func at(_ second: Int64) -> Timestamp { Deployment.now - .seconds(1_000 - second) }
    let lane = Murmur2.partition(of: Array(key.utf8), among: Deployment.lanes)
    let states: [(String, Handled.State)] = [
      ("n1", .delayed(attempt: 2, delayIndex: 0)), ("n1", .done(digest: 1)), ("n2", .dead),
      ("n3", .delayed(attempt: 4, delayIndex: 1)),
    ]
    for number in 1...5 {
      try log.append(Written.notification("n\(number)", key: key, at: at(Int64(number))))
    }
    for (id, state) in states {
      var record = LedgerEntry.handled(LedgerKey(id: id), Handled(state, at: at(10)))
        .record(topic: "millrace.refunds.ledger", lane: lane)
      record.timestamp = at(10).millisecondsSince1970
      try log.append(record)
    }
    let page = LedgerPage(lines: [.init(id: LedgerKey(id: "n1"), digest: 1, minute: 1)])
    var record = LedgerEntry.page(LedgerPage.ID(at: at(11), 1), page)
      .record(topic: "millrace.consumption.ledger", lane: lane)
    record.timestamp = at(11).millisecondsSince1970
    try log.append(record)
    let partition = TopicPartition(topic: "appstore.notifications.refunds", partition: lane)
    try await commit([partition: 4], as: topics.group(of: "refunds"))
    try await commit([partition: 1], as: topics.group(of: "consumption"))
    let entries = try await timeline().entries.filter { $0.kind == .notification }
    func facts(_ worker: String) -> [String?] {
      entries.reversed().map { entry in entry.facts.first { $0.name == worker }?.value }
    }
    #expect(
      facts("refunds") == [
        "done", "dead letter", "waits after 4 attempts", "read; its ledger has no outcome",
        "not read yet, 1 offset behind",
      ])
    let behind = (1...4).map { "not read yet, \(HumanText.count($0, "offset")) behind" }
    #expect(facts("consumption") == ["done"] + behind)
    // It has committed no offset of this topic, so it does not read it.
    #expect(facts("renewal-extensions").allSatisfy { $0 == nil })
  }

  @Test func `a record that could not be verified is a dead letter, although the ledger has no entry of it`()
    async throws
  {
    func at(_ second: Int64) -> Timestamp { Deployment.now - .seconds(1_000 - second) }
    let lane = Murmur2.partition(of: Array(key.utf8), among: Deployment.lanes)
    let topic = "appstore.notifications.refunds"
    // The second letter is about another record that claims the id of a notification.
    for (number, first) in [(1, "0"), (2, "7")] {
      try log.append(Written.notification("n\(number)", key: key, at: at(Int64(number))))
      var letter = Written.deadLetter("n\(number)", key: key, reason: "unverified", at: at(Int64(number)))
      letter.headers += [
        RecordHeader("millrace-first-topic", topic), RecordHeader("millrace-first-partition", "\(lane)"),
        RecordHeader("millrace-first-offset", first),
      ]
      try log.append(letter)
    }
    try await commit([TopicPartition(topic: topic, partition: lane): 2], as: topics.group(of: "refunds"))
    let entries = try await timeline().entries.filter { $0.kind == .notification }
    let outcomes = entries.reversed().map { entry in entry.facts.first { $0.name == "refunds" }?.value }
    #expect(outcomes == ["dead letter", "read; its ledger has no outcome"])
  }

  @Test func `a reader that disconnects ends the reading`() async throws {
    for number in 0..<30_000 {
      try log.append(
        ProducerRecord(
          topic: "appstore.notifications.refunds", key: Array(key.utf8), value: [1],
          timestamp: Deployment.now.millisecondsSince1970 + Int64(number)))
    }
    struct Gone: Error {}
    let reader = TimelineReader(log: log, builder: TimelineBuilder(topics: topics, subject: key, showsPayloads: false))
    var scanned: Int64 = 0
    await #expect(throws: Gone.self) {
      _ = try await reader.follow(since: Deployment.now - .seconds(60)) { news in
        if case .progress(let count, _) = news { scanned = count }
        if case .entry = news { throw Gone() }
      }
    }
    #expect(scanned < 2_000, "\(scanned)")

    let (begun, begin) = AsyncStream<Void>.makeStream()
    let telling = Task {
      try await reader.follow(since: Deployment.now - .seconds(60)) { _ in
        begin.yield()
        try await time.clock.sleep(for: .seconds(3_600))
      }
    }
    for await _ in begun { break }
    telling.cancel()
    await #expect(throws: CancellationError.self) { _ = try await telling.value }
  }
}

extension JSONObject {
  fileprivate var facts: JSONObject { if case .object(let facts)? = self["facts"] { facts } else { JSONObject() } }
}
