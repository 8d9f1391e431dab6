// Tests which alerts are posted, when, by which process, and in which form.

import AppStore
import AppStoreServerAPI
import Crypto
import Foundation
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import MillraceWorker
import Operations
import ServiceLifecycle
import Synchronization
import TestEnvironment
import Testing

@testable import Console

@Suite struct AlertTrackerTests {
  private static let at = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private static let down = AlertCondition(kind: .circuitOpen, subject: "crm", what: "it fails", remedy: "start it")

  private func at(_ seconds: Int) -> Timestamp { Self.at + .seconds(seconds) }

  /// Observes conditions at times, posts what is due, and returns the posts: `+10` for a beginning, `-50` for an end.
  private func posts(
    _ tracker: inout AlertTracker, _ holds: (Int) -> Bool, until end: Int, isUp: (Int) -> Bool = { _ in true },
    isKnown: (Int) -> Bool = { _ in true }
  ) -> [String] {
    var posts: [String] = []
    for second in stride(from: 0, through: end, by: 5) {
      guard isKnown(second) else {
        tracker.lostSight()
        continue
      }
      tracker.observe(holds(second) ? [Self.down] : [], at: at(second))
      for alert in tracker.due(at: at(second)) where isUp(second) {
        posts.append("\(alert.isResolved ? "-" : "+")\(second)")
        tracker.posted(alert)
      }
    }
    return posts
  }

  @Test func `a condition is posted once after it has held, and its end once`() {
    var tracker = AlertTracker(after: .seconds(30))
    #expect(posts(&tracker, { (10..<100).contains($0) }, until: 300) == ["+40", "-130"])
  }

  @Test func `what comes and goes is one condition, and what is short is none`() {
    var tracker = AlertTracker(after: .seconds(30))
    #expect(posts(&tracker, { $0 < 20 }, until: 100) == [])
    #expect(posts(&tracker, { $0 < 60 || (80..<200).contains($0) }, until: 300) == ["+30", "-230"])
  }

  @Test func `while the receiver is down nothing is lost, and a condition that ended by then is not posted`() {
    var tracker = AlertTracker(after: .seconds(30))
    #expect(posts(&tracker, { $0 < 200 }, until: 300, isUp: { $0 >= 100 }) == ["+100", "-230"])
    #expect(posts(&tracker, { $0 < 50 }, until: 300, isUp: { $0 >= 100 }) == [])
  }

  @Test func `what holds after a time in which nothing was known has to hold for the whole time again`() {
    func isKnown(_ second: Int) -> Bool { second < 20 || second >= 100 }
    var tracker = AlertTracker(after: .seconds(30))
    // Without Kafka the members of a group are lost, and join again when it answers.
    #expect(posts(&tracker, { (10..<120).contains($0) }, until: 300, isKnown: isKnown) == [])
    #expect(posts(&tracker, { (10..<200).contains($0) }, until: 300, isKnown: isKnown) == ["+130", "-230"])
    // A posted condition that is over before and after, or comes back at once, is handled in the same way.
    tracker = AlertTracker(after: .seconds(5))
    #expect(posts(&tracker, { $0 < 15 }, until: 300, isKnown: isKnown) == ["+5", "-105"])
    tracker = AlertTracker(after: .seconds(5))
    #expect(posts(&tracker, { !(15..<100).contains($0) }, until: 300, isKnown: isKnown) == ["+5"])
  }

  @Test func `a receiver that may have the beginning gets the end`() {
    var tracker = AlertTracker(after: .seconds(30))
    tracker.observe([Self.down], at: at(0))
    // The answer to the post is lost, and the condition ends.
    for alert in tracker.due(at: at(30)) { tracker.tried(alert) }
    tracker.observe([], at: at(40))
    #expect(tracker.due(at: at(60)).isEmpty)
    #expect(tracker.due(at: at(70)).map(\.isResolved) == [true])
  }

  @Test func `the lag of a worker whose group is refused does not end`() {
    let lag = AlertCondition(kind: .lag, subject: "crm", what: "it is late", remedy: "start more")
    var tracker = AlertTracker(after: .seconds(30))
    tracker.observe([lag, Self.down], at: at(0))
    for alert in tracker.due(at: at(30)) { tracker.posted(alert) }
    tracker.observe([], unknown: ["crm"], at: at(40))
    #expect(tracker.due(at: at(500)).map(\.episode.condition) == [Self.down])
    tracker.observe([], at: at(500))
    #expect(tracker.due(at: at(530)).map(\.episode.condition.kind) == [.circuitOpen, .lag])
  }

  @Test func `another process continues where the last one stopped`() {
    let posted = AlertEpisode(condition: Self.down, since: at(-60), isPosted: true)
    var tracker = AlertTracker(after: .seconds(30), restoring: [posted])
    #expect(posts(&tracker, { $0 < 50 }, until: 100) == ["-80"])
    var again = AlertTracker(after: .seconds(30), restoring: [AlertEpisode(condition: Self.down, since: at(-60))])
    #expect(posts(&again, { _ in true }, until: 100) == ["+0"], "the post before may have been lost")
  }

  /// Shows numbers of open dead letters to a tracker at seconds, and returns its posts: `+30 3` for three at second 30, `-60`
  /// for the end. `nil` is none.
  private func posts(_ tracker: inout AlertTracker, _ counts: [(at: Int, count: Int?)]) -> [String] {
    var posts: [String] = []
    for (second, count) in counts {
      let condition = count.map {
        AlertCondition(kind: .deadLetters, subject: "crm/refused", what: "\($0)", remedy: "requeue", count: $0)
      }
      tracker.observe(condition.map { [$0] } ?? [], at: at(second))
      for alert in tracker.due(at: at(second)) {
        posts.append(alert.isResolved ? "-\(second)" : "+\(second) \(alert.episode.condition.what)")
        tracker.posted(alert)
      }
    }
    return posts
  }

  private static let hour = Int(AlertEpisode.pause.components.seconds)

  @Test func `more dead letters are posted again, at most once an hour, and their end once`() {
    let hour = Self.hour
    var tracker = AlertTracker(after: .seconds(30))
    #expect(posts(&tracker, [(0, 3), (30, 3), (60, 9), (hour - 1, 9)]) == ["+30 3"])
    #expect(posts(&tracker, [(hour, 9), (hour + 30, 9), (hour + 60, 12), (2 * hour - 1, 12)]) == ["+\(hour + 30) 9"])
    // Fewer are no news, and then the same number as before is more.
    #expect(posts(&tracker, [(3 * hour, 2), (3 * hour + 40, 2)]) == [])
    #expect(posts(&tracker, [(3 * hour + 50, 9), (3 * hour + 80, 9)]) == ["+\(3 * hour + 80) 9"])
    #expect(posts(&tracker, [(4 * hour, nil), (4 * hour + 30, nil), (9 * hour, nil)]) == ["-\(4 * hour + 30)"])
    #expect(tracker.isEmpty)
  }

  @Test func `growth that is over soon is not posted, and an interruption does not hide it`() {
    let hour = Self.hour
    var tracker = AlertTracker(after: .seconds(30))
    #expect(posts(&tracker, [(0, 3), (30, 3)]) == ["+30 3"])
    #expect(posts(&tracker, [(hour, 4), (hour + 10, 3), (hour + 40, 3)]) == [])
    // All are requeued, and die again at once.
    #expect(posts(&tracker, [(hour + 50, 4), (hour + 53, nil), (hour + 56, 4), (hour + 86, 4)]) == ["+\(hour + 86) 4"])
    // What is unknown meanwhile has to be more for the whole time again.
    #expect(posts(&tracker, [(3 * hour, 5)]) == [])
    tracker.lostSight()
    #expect(posts(&tracker, [(3 * hour + 40, 5), (3 * hour + 70, 5)]) == ["+\(3 * hour + 70) 5"])
    // What grew and ended before it was posted ends as it was posted.
    #expect(posts(&tracker, [(5 * hour, 6), (5 * hour + 10, nil), (5 * hour + 40, nil)]) == ["-\(5 * hour + 40)"])
  }

  @Test func `the end has one webhook-id, whoever knows that the condition has grown`() {
    let episode = AlertEpisode(condition: Self.down, since: Self.at, isTried: true, isPosted: true, endedAt: at(60))
    var grown = episode
    grown.grownAt = at(30)
    func id(_ episode: AlertEpisode) -> String { AlertMessage(alert: Alert(episode: episode), deployment: "").id }
    #expect(id(grown) == id(episode))
    (grown.isPosted, grown.endedAt) = (false, nil)
    var first = grown
    first.grownAt = nil
    #expect(id(grown) != id(first))
  }

  @Test func `memory and posts are bounded`() {
    var tracker = AlertTracker(after: .zero)
    let many = (0..<1_000).map { AlertCondition(kind: .deadLetters, subject: "w/\($0)", what: "", remedy: "") }
    tracker.observe(many, at: Self.at)
    #expect(tracker.due(at: Self.at).count == AlertTracker.limit)
    // Another kind has its own places.
    tracker.observe(many + [Self.down], at: Self.at)
    #expect(tracker.due(at: Self.at).count == AlertTracker.limit + 1)
    #expect(tracker.due(at: Self.at).first?.episode.condition == Self.down)
  }

  @Test func `an episode is read as it was written`() throws {
    for isPosted in [false, true] {
      var condition = Self.down
      condition.count = isPosted ? 7 : nil
      let episode = AlertEpisode(
        condition: condition, since: Self.at, grownAt: isPosted ? at(3_600) : nil, isTried: true, isPosted: isPosted)
      let record = AlertRecord.record(of: episode, to: "t")
      #expect(try AlertRecord.episode(record.value ?? []) == episode)
      #expect(AlertRecord.tombstone(of: episode, on: "t").key == record.key)
    }
    #expect(try AlertRecord.episode(Array(#"{"kind":"pause"}"#.utf8)) == nil)
  }

  @Test func `what a process writes late about an episode that is over does not count`() async throws {
    let time = ManualClock(start: Self.at + .seconds(100))
    let log = InMemoryLog(clock: time.clock)
    try log.createTopic("t", partitions: 1)
    func found() async throws -> [AlertEpisode] { try await AlertRecord.episodes(in: log, "t") }
    let episode = AlertEpisode(condition: Self.down, since: Self.at, isTried: true, isPosted: true)
    try await log.append([AlertRecord.record(of: episode, to: "t")])
    #expect(try await found() == [episode])
    try await log.append([AlertRecord.tombstone(of: episode, on: "t")])
    #expect(try await found().isEmpty)
    // A console was paused during its post, and has lost the partition meanwhile.
    try await log.append([AlertRecord.record(of: episode, to: "t")])
    #expect(try await found().isEmpty)
    let next = AlertEpisode(condition: Self.down, since: Self.at + .seconds(101), isTried: true, isPosted: false)
    try await log.append([AlertRecord.record(of: next, to: "t")])
    #expect(try await found() == [next])
  }
}

@Suite struct AlertMessageTests {
  private static let at = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private func message(_ what: String = "it fails", isPosted: Bool = false) -> AlertMessage {
    var episode = AlertEpisode(
      condition: AlertCondition(kind: .circuitOpen, subject: "crm", what: what, remedy: "start it"), since: Self.at,
      isPosted: isPosted)
    if isPosted { episode.endedAt = Self.at + .seconds(90) }
    return AlertMessage(alert: Alert(episode: episode), deployment: "eu.")
  }

  @Test func `a post is a Standard Webhook with a text for Slack`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "alert-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8).write(to: file)
    var webhook = AlertSettings.Webhook()
    webhook.url = "https://example.com/hook"
    webhook.secretFile = file.path
    let request = try message().request(webhook, at: Self.at)
    let (body, headers) = (try #require(request.body), request.headers)
    let key = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let signed = Array("\(headers["webhook-id"] ?? "").\(headers["webhook-timestamp"] ?? "").".utf8) + body
    let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key))
    #expect(headers["webhook-signature"] == "v1,\(Data(code).base64EncodedString())")
    #expect(headers["webhook-timestamp"] == "1767225600")
    let json = try JSONObject(parsing: body)
    #expect(json["type"] == "alert.firing")
    #expect(json["text"] == "Millrace eu.: circuit-open: crm: it fails\n→ start it")
    guard case .object(let data)? = json["data"] else {
      Issue.record("no data")
      return
    }
    #expect(
      data.members.map(\.key) == ["condition", "of", "detail", "do", "since", "runbook", "deployment"])
  }

  @Test func `a post without a secret has no signature, and the URL can be in a file`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "alert-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    var webhook = AlertSettings.Webhook()
    webhook.urlFile = file.path
    #expect(throws: MillraceError.self) { try message().request(webhook, at: Self.at) }
    try Data("not a URL\n".utf8).write(to: file)
    #expect(throws: MillraceError.self) { try message().request(webhook, at: Self.at) }
    try Data("https://hooks.example/T0/secret\n".utf8).write(to: file)
    let request = try message().request(webhook, at: Self.at)
    #expect(request.url == "https://hooks.example/T0/secret")
    #expect(request.headers["webhook-signature"] == nil && request.headers["webhook-id"] != nil)
  }

  @Test func `every attempt has the same id, the end another, and text of others is no markup`() {
    #expect(message().id == message("another cause").id)
    #expect(message().id != message(isPosted: true).id)
    #expect(message("answered <!channel> & more").text.contains("&lt;!channel&gt; &amp; more"))
    #expect(message(isPosted: true).text == "Millrace eu.: resolved after 90s: circuit-open: crm: it fails")
  }
}

/// A receiver in memory.
private final class Receiver: HTTPExchange {
  struct Post: Sendable {
    var id: String
    var type: JSON?
    var text: String
  }

  private let state = Mutex<(status: Int, posts: [Post], attempts: Int)>((204, [], 0))

  var posts: [Post] { state.withLock { $0.posts } }
  var attempts: Int { state.withLock { $0.attempts } }
  func answer(_ status: Int) { state.withLock { $0.status = status } }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let json = try? JSONObject(parsing: request.body ?? [])
    let text = if case .string(let text)? = json?["text"] { text } else { "" }
    let status = state.withLock { state in
      state.attempts += 1
      if state.status < 300 {
        state.posts.append(Post(id: request.headers["webhook-id"] ?? "", type: json?["type"], text: text))
      }
      return state.status
    }
    return ExchangeAnswer(status: status)
  }
}

@Suite(.timeLimit(.minutes(15))) struct AlertPosterTests {
  private let cluster: EmbeddedCluster
  private let kafka: KafkaConfiguration
  private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  init() throws {
    cluster = try EmbeddedCluster()
    try cluster.create(try Deployment.catalog())
    kafka = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, clientID: "test")
  }

  /// A console without its pages.
  private func console(_ receiver: Receiver) throws -> ServiceGroup {
    let configuration = Deployment.configuration {
      $0.alerts.webhook.url = "http://receiver.example/"
      $0.alerts.after = .milliseconds(200)
    }
    let topics = ConsoleTopics(try TopicCatalog.load(configuration), configuration)
    let store = ConsoleStore(topics, deadLetters: 1_000, clock: .system)
    let reader = ConsoleReader(
      configuration: configuration, kafka: kafka, topics: topics, store: store, logger: Self.silent,
      surveyInterval: .milliseconds(200))
    var own = kafka
    own.properties = ["session.timeout.ms": "4000", "heartbeat.interval.ms": "500"]
    let poster = AlertPoster(
      configuration: configuration, kafka: own, store: store, logger: Self.silent, exchange: receiver)
    return ServiceGroup(configuration: .init(services: [reader, poster], logger: Self.silent))
  }

  private func report(_ circuit: ProcessReport.Circuit?) async throws {
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    var records: [ProducerRecord] = []
    for worker in ["refunds", "consumption", "renewal-extensions"] {
      var report = ProcessReport(worker, instance: "a", version: "0.1.0")
      if worker == "refunds" { report.circuit = circuit }
      records.append(report.record(to: "millrace.control"))
    }
    try await log.append(records)
  }

  @Test func `of two consoles one posts each alert once, also after a restart, and a refusal is retried and reported`()
    async throws
  {
    let receiver = Receiver()
    try await report(ProcessReport.Circuit(isMisconfigured: false, cause: "answered 500"))
    let consoles = [try console(receiver), try console(receiver)]
    let running = consoles.map { console in Task { try await console.run() } }
    try await waitUntil(receiver.posts.count == 1)
    #expect(receiver.posts[0].type == "alert.firing")
    #expect(receiver.posts[0].text.contains("circuit-open: refunds: the endpoint fails: answered 500"))

    for console in consoles { await console.triggerGracefulShutdown() }
    for task in running { try await task.value }
    receiver.answer(410)
    let next = try console(receiver)
    let task = Task { try await next.run() }
    try await report(nil)
    try await waitUntil(receiver.attempts > 2)
    #expect(receiver.posts.count == 1, "the restart posted nothing again")
    let reported = try await problem()
    #expect(reported == "answered 410")

    receiver.answer(204)
    try await waitUntil(receiver.posts.count == 2)
    #expect(receiver.posts[1].type == "alert.resolved")
    #expect(Set(receiver.posts.map(\.id)).count == 2)
    await next.triggerGracefulShutdown()
    try await task.value
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    #expect(try await AlertRecord.episodes(in: log, "millrace.control").isEmpty)
  }

  @Test func `a console that cannot know the conditions says so while it is the one that posts`() async throws {
    let configuration = Deployment.configuration { $0.alerts.webhook.url = "http://receiver.example/" }
    let store = ConsoleStore(try Deployment.topics(), deadLetters: 1_000, clock: .system)
    await store.report("read t: Topic authorization failed", of: "Kafka")
    let poster = AlertPoster(
      configuration: configuration, kafka: kafka, store: store, logger: Self.silent, exchange: Receiver())
    let console = ServiceGroup(configuration: .init(services: [poster], logger: Self.silent))
    let running = Task { try await console.run() }
    let reported = try await problem()
    #expect(reported == "conditions are unknown: read t: Topic authorization failed")
    await console.triggerGracefulShutdown()
    try await running.value
  }

  @Test func `while Kafka does not answer, the console that posts says so, and then that it answers again`()
    async throws
  {
    let receivers = [Receiver(), Receiver()]
    let time = ManualClock(start: Timestamp(millisecondsSince1970: 1_767_225_600_000))
    let configuration = Deployment.configuration {
      $0.alerts.webhook.url = "http://receiver.example/"
      $0.alerts.after = .milliseconds(200)
    }
    let store = ConsoleStore(try Deployment.topics(), deadLetters: 1_000, clock: .system, real: time.clock)
    var facts = ClusterFacts()
    func answer() async {
      facts.at = time.clock.wallTime
      await store.learn(facts)
    }
    await answer()
    let running = receivers.map { receiver in
      let poster = AlertPoster(
        configuration: configuration, kafka: kafka, store: store, logger: Self.silent, exchange: receiver)
      let console = ServiceGroup(configuration: .init(services: [poster], logger: Self.silent))
      return (console, Task { try await console.run() })
    }
    // One of them posts, and only this one has anything to say.
    _ = try await problem()
    time.advance(by: .seconds(60))
    func posts() -> [Receiver.Post] { receivers.flatMap(\.posts) }
    try await waitUntil(posts().count == 1)
    #expect(
      posts()[0].text.contains("kafka: cluster: Kafka does not answer; its last answer is from 2026-01-01T00:00:00"))
    await answer()
    try await waitUntil(posts().count == 2)
    #expect(posts().map(\.type) == ["alert.firing", "alert.resolved"] && Set(posts().map(\.id)).count == 2)
    for (console, task) in running {
      await console.triggerGracefulShutdown()
      try await task.value
    }
  }

  /// Returns the first problem that a console reports.
  private func problem() async throws -> String? {
    struct Found: Error {}
    let found = Mutex<String?>(nil)
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    do {
      try await log.scan(
        TopicPartition(topic: "millrace.control", partition: 0), from: .earliest, to: .never, upTo: 100
      ) { page in
        for record in page {
          guard let value = record.value, let report = ProcessReport(try JSONObject(parsing: value)),
            report.name == ProcessReport.console, let problem = report.problem
          else { continue }
          found.withLock { $0 = problem }
          throw Found()
        }
      }
    } catch is Found {
      // The scan has no other end.
    }
    return found.withLock { $0 }
  }
}
