import AppStore
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import MillraceWorker
import Operations
import Testing

@testable import Console

@Suite struct TablesTests {
  private let now = Deployment.now

  // MARK: - Flow

  @Test func `records are counted by the minute for an hour`() {
    var flow = FlowTable()
    let key = FlowTable.Key(outcome: .received, place: "refunds", label: "REFUND")
    for minute in [0, 0, 3, 59, 60, 61] { flow.count(key, at: now - .seconds(Int64(minute) * 60), now: now) }
    let row = flow.rows(now: now).first
    #expect(row?.total(ofLast: 1) == 2)
    #expect(row?.total(ofLast: 5) == 3)
    #expect(row?.total(ofLast: 60) == 4)
    #expect(flow.rows(now: now + .seconds(3_600)).isEmpty)
  }

  @Test func `names beyond the limit count as others`() {
    var flow = FlowTable()
    for number in 0..<(FlowTable.maximumKeys + 50) {
      flow.count(.init(outcome: .received, place: "refunds", label: "TYPE_\(number)"), at: now, now: now)
    }
    let rows = flow.rows(now: now)
    #expect(rows.count == FlowTable.maximumKeys + 1)
    #expect(rows.first { $0.key.label == "other" }?.total(ofLast: 1) == 50)
  }

  @Test func `names of the hour before leave room for new ones`() {
    var flow = FlowTable()
    let later = now + .seconds(3_600)
    for (time, prefix) in [(now, "OLD"), (later, "NEW")] {
      for number in 0..<FlowTable.maximumKeys {
        flow.count(.init(outcome: .received, place: "refunds", label: "\(prefix)_\(number)"), at: time, now: time)
      }
    }
    let rows = flow.rows(now: later)
    #expect(rows.count == FlowTable.maximumKeys && rows.allSatisfy { $0.key.label.hasPrefix("NEW_") })
  }

  // MARK: - Lag

  @Test func `the lag of a lane is its uncommitted records and the age of the oldest`() {
    var facts = ClusterFacts()
    facts.topics = ["a": 2, "b": 2, "c": 2]
    func place(_ topic: String, _ number: Int32) -> TopicPartition { TopicPartition(topic: topic, partition: number) }
    facts.ranges = [
      place("a", 0): 0..<10, place("a", 1): 5..<9, place("b", 0): 0..<4, place("b", 1): 0..<3, place("c", 0): 0..<100,
    ]
    facts.committed["w"] = [place("a", 0): 10, place("a", 1): 2, place("b", 0): 1]
    facts.oldest = [place("a", 1): [5: .some(now - .seconds(90))], place("b", 0): [1: nil]]
    let lag = WorkerLag("w", inputs: ["a", "b", "c"], facts: facts) { $0.uppercased() }
    // Lane 0: no records of a, and only transaction markers of b. Lane 1: the part of a that retention has left, and
    // all of b. c is not read.
    #expect(lag.lanes.map(\.records) == [0, 7])
    #expect(lag.lanes.map(\.oldest) == [nil, now - .seconds(90)])
    #expect(lag.lanes.map(\.worst) == [nil, "A"])
    #expect(lag.records == 7)
    #expect(!WorkerLag("x", inputs: ["a"], facts: facts) { $0 }.hasRun)
  }

  @Test func `a lane whose oldest record could not be read is behind, not up to date`() throws {
    let topics = try Deployment.topics()
    var tables = ConsoleTables(topics, deadLetters: 10)
    var facts = ClusterFacts()
    facts.topics = Dictionary(uniqueKeysWithValues: topics.kinds.keys.map { ($0, 1) })
    let partition = TopicPartition(topic: "appstore.notifications.refunds", partition: 0)
    (facts.ranges, facts.committed) = ([partition: 0..<9], ["refunds": [partition: 4]])
    func words(_ oldest: [Int64: Timestamp?]) -> String {
      facts.oldest = [partition: oldest]
      tables.learn(facts)
      let context = PageContext(visitor: Visitor(name: "a", mayAct: false), allowsActions: false, showsPayloads: false)
      let page = OverviewView(state: tables.overview(now: now, wallTime: now), context: context).page.text
      let worker = page.split(separator: "id=\"lag-refunds\"").dropFirst().first.map(String.init) ?? ""
      return worker.split(separator: "</summary>").first.map(String.init) ?? ""
    }
    #expect(words([:]).contains("age unknown"))
    #expect(words([4: nil]).contains("up to date"), "only transaction markers remain")
    #expect(words([4: now - .seconds(90)]).contains("behind</span>"))
  }

  @Test func `old figures are grey, and a worker whose endpoint fails is not up to date`() throws {
    var tables = ConsoleTables(try Deployment.topics(), deadLetters: 10)
    var facts = ClusterFacts()
    (facts.topics, facts.at) = ([tables.topics.kinds.keys.sorted()[0]: 1], now)
    let partition = TopicPartition(topic: "appstore.notifications.refunds", partition: 0)
    (facts.topics[partition.topic], facts.ranges, facts.committed) = (
      1, [partition: 0..<4], ["refunds": [partition: 4]]
    )
    tables.learn(facts)
    func page(_ seconds: Int64, _ conditions: [AlertCondition] = []) -> String {
      let context = PageContext(visitor: Visitor(name: "a", mayAct: false), allowsActions: false, showsPayloads: false)
      var overview = tables.overview(now: now + .seconds(seconds), wallTime: now)
      overview.conditions = conditions
      return OverviewView(state: overview, context: context).page.text
    }
    #expect(!page(5).contains("stale") && page(5).contains("every worker is up to date"))
    #expect(page(6).contains("stale") && page(6).contains("Kafka has not answered for 6 s."))
    // A survey that takes long is no reason.
    facts.took = .seconds(4)
    tables.learn(facts)
    #expect(!page(12).contains("stale") && page(13).contains("stale"))
    let open = AlertCondition(kind: .circuitOpen, subject: "refunds", what: "it fails", remedy: "start it")
    #expect(page(0, [open]).contains("refunds: circuit open") && !page(0, [open]).contains("up to date"))
  }

  @Test func `the console is ready while Kafka answers`() async throws {
    let time = ManualClock(start: now)
    let store = ConsoleStore(try Deployment.topics(), deadLetters: 10, clock: time.clock, real: time.clock)
    #expect(await !store.outcome(remedy: "").isHealthy)
    var facts = ClusterFacts()
    facts.at = now
    await store.learn(facts)
    #expect(await store.outcome(remedy: "").isHealthy)
    time.advance(by: .seconds(6))
    let outcome = await store.outcome(remedy: "look at the brokers")
    #expect(!outcome.isHealthy && outcome.detail == "Kafka has not answered for 6 s")
    #expect(outcome.remedy == "look at the brokers")
  }

  // MARK: - Retries

  @Test func `a delayed record is shown with its due time, and removed when it is committed`() {
    var retries = RetryTable()
    let lane = TopicPartition(topic: "t", partition: 0)
    for (offset, seconds) in [-15, 30, 300, 1_800, 7_200, 90_000].enumerated() {
      retries.add(
        lane, offset: Int64(offset), due: now + .seconds(seconds), reason: "busy", of: "w",
        first: RecordPosition(topic: "n", partition: 0, offset: Int64(offset)))
    }
    var row = retries.row(of: "t", worker: "w", delay: "1m", partitions: 1, now: now)
    #expect(row.waiting == 6)
    #expect(RetryTable.Due.allCases.map { row.due[$0] } == [1, 1, 1, 1, 1, 1])
    #expect(row.next == now - .seconds(15))
    retries.commit(lane, 4)
    row = retries.row(of: "t", worker: "w", delay: "1m", partitions: 1, now: now)
    #expect(row.waiting == 2)
    #expect(row.next == now + .seconds(7_200))
  }

  @Test func `a record that is delayed again counts once, also in another topic and read in another order`() {
    var retries = RetryTable()
    let (short, long) = (TopicPartition(topic: "10s", partition: 0), TopicPartition(topic: "1m", partition: 0))
    let first = RecordPosition(topic: "n", partition: 0, offset: 7)
    func add(_ lane: TopicPartition, _ offset: Int64, due seconds: Int, of worker: String = "w") {
      retries.add(lane, offset: offset, due: now + .seconds(seconds), reason: "busy", of: worker, first: first)
    }
    func waiting(_ topic: String) -> Int {
      retries.row(of: topic, worker: "w", delay: topic, partitions: 1, now: now).waiting
    }
    add(long, 0, due: 60)
    for offset in 0..<5 { add(short, Int64(offset), due: Int(offset) * 10) }
    #expect((waiting("10s"), waiting("1m")) == (0, 1))
    add(short, 5, due: 70)
    #expect((waiting("10s"), waiting("1m")) == (1, 0))
    retries.commit(long, 1)
    retries.commit(short, 5)
    #expect(waiting("10s") == 1)
    add(long, 1, due: 80, of: "another")
    #expect((waiting("10s"), waiting("1m")) == (1, 1))
    retries.commit(short, 6)
    #expect(waiting("10s") == 0)
  }

  // MARK: - Deadlines

  @Test func `a request is open until an event ends it, in either order, and a warning does not end it`() {
    var deadlines = DeadlineTable()
    func request(_ id: String) -> DeadlineTable.Request {
      .init(notification: id, subject: "1", bundleId: nil, due: now + .seconds(60))
    }
    deadlines.add(request("a"), now: now)
    deadlines.add(request("b"), now: now)
    deadlines.end("a", event: "consumption.at-risk", now: now)
    #expect(deadlines.requests.map(\.notification) == ["a", "b"])
    deadlines.end("a", event: "consumption.sent", now: now)
    // Apple posts the notification again.
    deadlines.add(request("a"), now: now)
    deadlines.end("c", event: "consumption.withheld", now: now)
    deadlines.add(request("c"), now: now)
    #expect(deadlines.requests.map(\.notification) == ["b"])
    #expect(deadlines.outcomes == ["consumption.sent": 1, "consumption.withheld": 1])
  }

  // MARK: - Dead letters

  private func letter(_ offset: Int64, reason: String = "handler-error", key: String = "1", app: String = "a") throws
    -> DeadLetterEntry
  {
    let record = Written.deadLetter(
      "n\(offset)", key: key, reason: reason, lane: 0, bundleId: app, at: now + .seconds(offset)
    ).read(offset: offset)
    return try #require(DeadLetterEntry(record, of: "refunds"))
  }

  @Test func `the newest dead letters are kept, the rest are counted`() throws {
    var shelf = DeadLetterIndex(capacity: 100)
    for offset in 0..<1_000 { shelf.add(try letter(Int64(offset))) }
    #expect(shelf.count <= 112)
    #expect(shelf.count + shelf.dropped == 1_000)
    let page = shelf.page(DeadLetterQuery(FormFields("")), from: 0, count: 3)
    #expect(page.letters.map(\.key.id.offset) == [999, 998, 997])
    #expect(page.hasMore)
  }

  @Test func `dead letters are found by every field and by their state`() throws {
    var shelf = DeadLetterIndex(capacity: 100)
    shelf.add(try letter(0, reason: "handler-error", key: "1000000111"))
    shelf.add(try letter(1, reason: "crashed-the-process", key: "1000000222", app: "b"))
    func find(_ query: String) -> [Int64] {
      shelf.page(DeadLetterQuery(FormFields(query)), from: 0, count: 10).letters.map(\.key.id.offset)
    }
    #expect(find("") == [1, 0])
    #expect(find("q=0111") == [0])
    #expect(find("q=DATABASE+said") == [1, 0])
    #expect(find("q=0/1") == [1])
    #expect(find("q=N1") == [1])
    #expect(find("reason=crashed-the-process") == [1])
    #expect(find("app=b&worker=refunds") == [1])
    #expect(find("worker=other").isEmpty)

    let command = OperationCommand(
      id: "c1", item: OperationCommand.deadLetter(lane: 0, offset: 0), worker: "refunds", lane: 0, action: .discard,
      why: "", by: "ada", at: now)
    shelf.fold(.command(command))
    var second = command
    (second.id, second.by) = ("c2", "eve")
    shelf.fold(.command(second))
    #expect(find("") == [1])
    #expect(find("state=settled") == [0])
    #expect(shelf.page(DeadLetterQuery(FormFields("state=settled")), from: 0, count: 1).letters.first?.by == "ada")
    #expect(shelf.openCount == 1)
    #expect(shelf.groups().groups.map(\.key.reason) == ["crashed-the-process"])
    // A failed command leaves the letter open, and names its author.
    shelf.fold(.result(OperationResult(command, .failed("no such topic"), at: now)))
    #expect(find("") == [1, 0])
    #expect(shelf[.init(worker: "refunds", id: DeadLetterID(lane: 0, offset: 0))]?.failure?.hasPrefix("ada's") == true)
    var third = command
    (third.id, third.by) = ("c3", "kim")
    shelf.fold(.command(third))
    #expect(find("") == [1])
    #expect(shelf[.init(worker: "refunds", id: DeadLetterID(lane: 0, offset: 0))]?.failure == nil)
    // It stays settled when it is read again.
    shelf.add(try letter(0))
    #expect(find("state=all").count == 2)
    #expect(find("") == [1])
  }

  // MARK: - Runs

  @Test func `a replay is one run with all its parts, and lists its possible actions`() throws {
    var tables = ConsoleTables(try Deployment.topics(), deadLetters: 100)
    func apply(_ operation: OperationsRecord) {
      tables.apply(
        [operation.producerRecord("millrace.operations").read()], now: now, wallTime: now)
    }
    for lane in 0..<2 {
      apply(
        .command(
          OperationCommand(
            id: "c\(lane)", run: "r", item: "c\(lane)", worker: "refunds", lane: Int32(lane),
            action: .replay(ReplayPart(topic: "t", from: 100, to: 200)), why: "bug", by: "ada", at: now)))
    }
    var runs = tables.runSummaries(at: now)
    #expect(runs.map(\.id) == ["r"])
    #expect(runs.first?.progressWords == "0 of 200 offsets")
    #expect(runs.first?.verbs == [.pause, .stop])
    apply(.control(RunControl(run: "r", .pause, by: "eve", at: now)))
    runs = tables.runSummaries(at: now)
    #expect(runs.first?.state == "paused")
    #expect(runs.first?.verbs == [.resume, .stop])
  }

  @Test func `the audit trail shows a silent run with the time of its last record`() throws {
    let topics = try Deployment.topics()
    var tables = ConsoleTables(topics, deadLetters: 100)
    tables.begin(reading: [], at: now)
    func apply(_ record: ProducerRecord, at time: Timestamp) {
      var record = record
      record.timestamp = time.millisecondsSince1970
      tables.apply([record.read()], now: time, wallTime: time)
    }
    // The command arrives first, because topics are read in parallel.
    let command = OperationsRecord.command(
      OperationCommand(
        id: "c", run: "r1", item: "dead-letters/0/7", worker: "refunds", lane: 0, action: .requeue, why: "", by: "ada",
        at: now))
    apply(command.producerRecord("millrace.operations"), at: now + .seconds(50))
    for run in ["r1", "r2"] {
      apply(
        AuditRecord(
          run: run, .requeue, .started(parts: 1), by: "ada", source: "millrace", at: now, target: "refunds"
        ).producerRecord(prefix: ""), at: now)
    }
    var facts = ClusterFacts()
    facts.topics = Dictionary(uniqueKeysWithValues: topics.kinds.keys.map { ($0, 4) })
    tables.learn(facts)
    let state = tables.overview(now: now + .seconds(70), wallTime: now)
    let statuses = Dictionary(uniqueKeysWithValues: (state.audit ?? []).map { ($0.entry.run, $0.status) })
    #expect(statuses == ["r1": .goingOn, "r2": .silent(since: now)])
    let visitor = Visitor(name: "ada", mayAct: false)
    let page = OverviewView(
      state: state, context: PageContext(visitor: visitor, allowsActions: false, showsPayloads: false)
    ).page.text
    #expect(page.contains("silent since"))
  }

  // MARK: - Reading

  @Test func `every topic that conditions depend on is read to its end first`() throws {
    let topics = try Deployment.topics()
    var facts = ClusterFacts()
    for topic in topics.kinds.keys { facts.ranges[TopicPartition(topic: topic, partition: 0)] = 0..<1_000 }
    facts.ranges[TopicPartition(topic: "millrace.quarantine", partition: 1)] = 7..<7
    let plan = ReadingPlan(topics, facts: facts, recent: [:])
    let others = topics.kinds.keys.filter { !plan.judged.map(\.topic).contains($0) }
    #expect(
      others.allSatisfy { topic in
        switch topics.kinds[topic] {
        case .notifications("consumption-requests"), .events("consumption"): false
        case .notifications, .events, .replay: true
        default: false
        }
      }, "\(others)")
    #expect(plan.starts.count == facts.ranges.count && plan.judged.allSatisfy { $0.partition == 0 })

    // A request and the event that answers it arrive in any order.
    var tables = ConsoleTables(topics, deadLetters: 100)
    tables.begin(reading: plan.judged, at: now)
    tables.apply(
      [
        Written.notification("n", key: "1", type: "CONSUMPTION_REQUEST", family: "consumption-requests", at: now).read()
      ], now: now, wallTime: now)
    let last = TopicPartition(topic: "appstore.events.consumption", partition: 0)
    for partition in plan.judged where partition != last { tables.reach(partition) }
    #expect(!tables.isCaughtUp)
    tables.apply(
      [Written.event("consumption.sent", worker: "consumption", key: "1", about: "n", at: now).read()], now: now,
      wallTime: now)
    tables.reach(last)
    #expect(tables.isCaughtUp && tables.deadlines.requests.isEmpty)
  }

  @Test func `a delayed record that was committed before it is read does not wait`() throws {
    let topics = try Deployment.topics()
    var tables = ConsoleTables(topics, deadLetters: 100)
    var facts = ClusterFacts()
    facts.topics = ["millrace.refunds.retry.1m": 1]
    facts.committed = ["refunds": [TopicPartition(topic: "millrace.refunds.retry.1m", partition: 0): 6]]
    tables.learn(facts)
    tables.begin(reading: [], at: now)
    let delayed = Written.delayed("n", key: "1", row: "1m", due: now + .seconds(60), at: now)
    tables.apply([delayed.read(offset: 5), delayed.read(offset: 6)], now: now, wallTime: now)
    #expect(tables.overview(now: now, wallTime: now).retries.map(\.waiting).reduce(0, +) == 1)
  }

  // MARK: - All together

  @Test func `records become rows of the pages`() throws {
    let topics = try Deployment.topics()
    var tables = ConsoleTables(topics, deadLetters: 100)
    let whole = TopicPartition(topic: "millrace.refunds.dead-letters", partition: 0)
    tables.begin(reading: [whole], at: now)
    tables.apply(
      [
        Written.notification("n1", key: "1", at: now).read(),
        Written.notification("n2", key: "2", type: "CONSUMPTION_REQUEST", family: "consumption-requests", at: now)
          .read(),
        Written.event("entitlement.revoked", worker: "refunds", key: "1", about: "n1", at: now).read(),
        Written.deadLetter("n3", key: "3", lane: 0, at: now).read(),
        Written.delayed("n4", key: "4", row: "1m", due: now + .seconds(60), at: now).read(),
      ], now: now, wallTime: now)
    var facts = ClusterFacts()
    facts.topics = Dictionary(uniqueKeysWithValues: topics.kinds.keys.map { ($0, 4) })
    facts.at = now
    tables.learn(facts)
    let before = tables.overview(now: now, wallTime: now)
    #expect(!before.isCaughtUp)
    tables.reach(whole)
    let overview = tables.overview(now: now, wallTime: now)
    #expect(overview.isCaughtUp)
    #expect(
      Set(overview.flow.map { "\($0.key.outcome) \($0.key.place) \($0.key.label)" }) == [
        "received refunds REFUND", "received consumption-requests CONSUMPTION_REQUEST",
        "event refunds entitlement.revoked", "dead refunds handler-error", "delayed refunds retry 1m",
      ])
    #expect(overview.deadLetters.open == 1)
    #expect(overview.deadlines?.next.map(\.notification) == ["n2"])
    #expect(overview.retries.filter { $0.waiting > 0 }.map(\.delay) == ["1m"])
    #expect(overview.audit?.isEmpty == true)
    // After a restart of the reading, nothing counts twice.
    tables.begin(reading: [], at: now)
    #expect(tables.overview(now: now, wallTime: now).deadLetters.open == 0)
  }
}
