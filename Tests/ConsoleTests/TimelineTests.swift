import AppStore
import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceWorker
import MillraceTesting
import Testing

@testable import Console

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

  @Test func `each call shows its later state, including a withdrawal`() async throws {
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
    #expect(facts("outcome") == [withdrawn, answered, withdrawn, answered, open, withdrawn])
    #expect(facts("intended").map { $0 == nil } == [false, false, true, false, false, true])
    #expect(entries.reversed().map(\.payload) == [nil, nil, nil, "told", nil, nil])
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
