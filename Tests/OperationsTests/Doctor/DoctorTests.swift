// Provokes every finding of the doctor.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import MillraceTime
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import Forward
import HTTPWorkers
import MillraceTesting
import MillraceWorker
import TestEnvironment
import Testing

@testable import Operations

@Suite("The doctor's findings on a configuration")
struct DoctorConfigurationTests {
  private let fixture: APIFixture

  init() throws { fixture = try APIFixture() }

  /// A configuration that is fit for production.
  private func sound() throws -> MillraceConfiguration {
    var configuration = try fixture.configuration()
    configuration.trust.roots = []
    configuration.appStore = AppStoreSettings()
    return configuration
  }

  @Test("a production configuration has no findings")
  func good() throws {
    let findings = ConfigurationChecks.findings(try sound()) + ConfigurationChecks.files(try sound(), clock: .system)
    #expect(findings.map(\.severity) == [.good, .good])
    #expect(DoctorSummary(findings).status == .success && DoctorSummary(findings).sentence.contains("No problems"))
  }

  @Test("settings for a rehearsal are warnings")
  func warnings() throws {
    let table: [(String, (inout MillraceConfiguration) -> Void)] = [
      ("apps", { $0.apps = [] }), ("apps[0].api", { $0.apps[0].api.keyId = nil }),
      ("trust.roots", { $0.trust.roots = ["root.pem"] }), ("clock", { $0.clock.rate = 60 }),
      ("appStore.productionURL", { $0.appStore.productionURL = "http://127.0.0.1:9999" }),
      ("appStore.sandboxURL", { $0.appStore.sandboxURL = "http://127.0.0.1:9999" }),
      ("kafka.durability", { $0.kafka.durability = .relaxed }),
    ]
    for (key, change) in table {
      var configuration = try sound()
      change(&configuration)
      let findings = ConfigurationChecks.findings(configuration)
      #expect(findings.map(\.subject) == [key] && findings.map(\.severity) == [.warning])
      #expect(findings.allSatisfy { $0.remedy?.isEmpty == false })
      #expect(DoctorSummary(findings).status == .success)
    }
  }

  @Test("an unreadable file is reported with its configuration key")
  func files() throws {
    let table: [(String, (inout MillraceConfiguration) -> Void)] = [
      ("topics.directory", { $0.topics.directory = "/nowhere" }),
      ("kafka.propertyFiles", { $0.kafka.propertyFiles = ["sasl.password": "/nowhere"] }),
      ("kafka.oauth.tokenFile", { $0.kafka.oauth.tokenFile = "/nowhere" }),
      ("sharedSecretFiles", { $0.apps[0].sharedSecretFiles = ["/nowhere"] }),
      ("trust.roots", { $0.trust.roots = ["/nowhere"] }),
      ("apps[0].api.privateKeyFile", { $0.apps[0].api.privateKeyFile = "/nowhere" }),
      ("/nowhere", { ($0.ingress.tls.certificate, $0.ingress.tls.key) = ("/nowhere", "/dev/null") }),
      ("postgres.passwordFile", { $0.postgres.passwordFile = "/nowhere" }),
      ("privacy.keyFile", { $0.privacy.keyFile = "/nowhere" }),
      ("kafka.properties.ssl.key.location", { $0.kafka.properties = ["ssl.key.location": "/nowhere"] }),
      ("workers.w.handler.secretFile", { $0.workers["w", default: WorkerEntry()].handler.secretFile = "/nowhere" }),
    ]
    for (place, change) in table {
      var configuration = try sound()
      change(&configuration)
      let findings = ConfigurationChecks.files(configuration, clock: .system)
      #expect(findings.allSatisfy { $0.check == .files && $0.severity == .configuration && $0.remedy != nil })
      #expect(findings.contains { $0.subject?.contains(place) == true }, "\(findings)")
      #expect(DoctorSummary(findings).status == .configuration)
    }
  }

  @Test("the files that a worker's own settings name are read too")
  func workerFiles() throws {
    var configuration = try sound()
    try configuration.setSettings("{url: 'http://a', secretFile: /nowhere}", of: "webhook-crm")
    try configuration.setSettings("{url: 'http://a', headerFiles: {X-Key: /elsewhere}}", of: "forward-old")
    let forms = [WebhookWorker.settingsForm(named: "webhook-<name>"), Forwarder.settingsForm]
    let findings = ConfigurationChecks.files(configuration, workers: forms, clock: .system)
    #expect(findings.count == 2 && findings.allSatisfy { $0.severity == .configuration })
    for key in ["workers.webhook-crm.settings.secretFile", "workers.forward-old.settings.headerFiles.X-Key"] {
      #expect(findings.contains { $0.subject?.contains(key) == true }, "\(findings)")
    }
  }

  @Test("a certificate is a warning for three weeks before its end, and then a failure")
  func certificates() throws {
    let folder = try TemporaryDirectory()
    let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    let day = Duration.seconds(86_400)
    let pem = try SigningChain.generate(notBefore: now - day, notAfter: now + day * 100).pem
    var configuration = try sound()
    configuration.ingress.tls.certificate = try folder.write(pem, to: "leaf.pem")
    for (days, severity) in [
      (0, DoctorFinding.Severity.good), (78, .good), (80, .warning), (99, .warning), (101, .failure),
    ] {
      let findings = CertificateChecks.findings(configuration, workers: [], at: now + day * days)
      #expect(findings.map(\.severity) == [severity], "\(days)")
      #expect(severity == .good || findings[0].subject == "ingress.tls.certificate")
    }
  }

  @Test("an endpoint answers unless it fails, is gone or does not respond")
  func endpoints() {
    let address = EndpointAddress("workers.w.handler", url: "https://u:hunter2@a/hook?key=hunter2")
    let table: [(Result<Int, TransportFailure>?, DoctorFinding.Severity, String)] = [
      (.success(204), .good, "204"), (.success(401), .good, "401"), (.success(405), .good, "405"),
      (.success(501), .good, "501"),
      (.success(410), .failure, "410"), (.success(500), .failure, "500"), (.success(503), .failure, "503"),
      (.failure(TransportFailure("connection refused", .notSent)), .failure, "connection refused"),
      (nil, .failure, "no answer within 5s"),
    ]
    for (answer, severity, word) in table {
      let finding = address.finding(answer, .seconds(5))
      #expect(finding.severity == severity && finding.what.contains(word), "\(finding)")
      #expect(finding.subject == "workers.w.handler" && finding.remedy?.contains("hunter2") != true)
    }
  }

  @Test("a server that is not there is a failure, within the time limit")
  func absentEndpoint() async {
    let finding = await EndpointAddress("workers.w.handler", url: "http://127.0.0.1:1/").finding(timeout: .seconds(5))
    #expect(finding.severity == .failure && finding.what.hasPrefix("no answer"), "\(finding)")
  }

  @Test("a report groups findings by cause, problems first, in at most 20 lines")
  func report() {
    var findings = (1...30).map {
      DoctorFinding(.topics, .failure, "the topic is missing", of: "t\($0)", remedy: "run millrace topics apply")
    }
    findings.insert(DoctorFinding(.files, .warning, "old", of: "f", remedy: "renew it"), at: 0)
    findings += [DoctorFinding(.cluster, .good, "3 brokers answer"), DoctorFinding(.probe, .skipped, "by option")]
    let lines = DoctorReport(findings).lines(lineWidth: nil, usesColor: false)
    #expect(
      lines == [
        "topics: t1, t2, t3 and 27 more: the topic is missing", "    → run millrace topics apply", "files: f: old",
        "    → renew it", "good: cluster",
      ])
    let many = (1...40).map { DoctorFinding(.durability, .failure, "cause \($0)", of: "t", remedy: "do \($0)") }
    let cut = DoctorReport(many + findings).lines(lineWidth: nil, usesColor: false)
    #expect(cut.count == 20 && cut[0].contains("cause 1") && cut[18] == "33 more; --verbose shows all", "\(cut)")
    #expect(DoctorReport([]).lines(lineWidth: nil, usesColor: false).isEmpty)
  }

  @Test("a configuration that cannot be loaded has one finding for each problem")
  func unreadable() {
    let error = MillraceError(
      .configuration,
      [.init("unknown key", at: "a.yaml:1", remedy: "x"), .init("no number", at: "a.yaml:2", remedy: "y")])
    let findings = Doctor.findings(of: error)
    #expect(findings.map(\.subject) == ["a.yaml:1", "a.yaml:2"] && DoctorSummary(findings).status == .configuration)
  }

  @Test("findings are rows for people and lines for scripts, both with remedies")
  func printing() throws {
    let finding = DoctorFinding(
      .topics, .failure, "the topic is missing", of: "t", remedy: "run it", time: .milliseconds(7))
    #expect(
      finding.jsonLine
        == #"{"check":"topics","result":"failure","of":"t","detail":"the topic is missing","do":"run it","milliseconds":7}"#
    )
    let out = CollectedOutput()
    let table = DoctorPrinter(out.output(isTerminal: true), asJSON: false)
    try table.print(finding)
    try table.print(DoctorFinding(.probe, .skipped, "by option"))
    #expect(out.lines.count == 4 && out.lines[0].hasPrefix("CHECK") && out.lines[2].hasSuffix("→ run it"))
    let json = CollectedOutput()
    try DoctorPrinter(json.output(), asJSON: true).print(finding)
    #expect(json.lines == [finding.jsonLine])
    let order = DoctorFinding.Severity.allCases
    #expect(order == order.sorted() && order.max() == .configuration)
  }
}

@Suite("The doctor's findings on a cluster", .timeLimit(.minutes(15)))
struct DoctorClusterTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func present(_ change: (inout TopicState) -> Void = { _ in }) -> [TopicState] {
    fixture.catalog.topics.map { topic in
      var state = TopicState(
        topic: topic.topic, partitions: topic.lanes, replication: topic.replication, settings: topic.settings)
      if topic.name == NotificationFamily.refunds.topic { change(&state) }
      return state
    }
  }

  private func findings(_ present: [TopicState]) -> [DoctorFinding] {
    let survey = TopicsSurvey(
      plan: TopicPlan(
        declared: fixture.catalog.topics, actual: present, brokerCount: 3, durability: .strict),
      cluster: ClusterDescription(clusterID: "c", brokerCount: 3),
      replicas: ReplicaHealth(declared: [], actual: [], absentBrokers: []))
    return ClusterChecks.topics(survey) + ClusterChecks.durability(fixture.catalog, present, .strict)
  }

  @Test("a topic setting that its file does not declare is a finding")
  func undeclared() throws {
    let breaking = findings(
      present {
        $0.settings?["retention.bytes"] = "1000"
        $0.overrides = ["retention.bytes"]
      })
    let finding = try #require(breaking.first)
    #expect(finding.severity == .failure && finding.what.contains("retention.bytes=1000"))
    #expect(finding.remedy?.contains("--delete-config retention.bytes") == true)
    #expect(DoctorSummary(breaking).status == .failure)
    let harmless = findings(
      present {
        $0.settings?["compression.type"] = "zstd"
        $0.overrides = ["compression.type"]
      })
    #expect(harmless.first?.severity == .warning && harmless.first?.what.contains("compression.type=zstd") == true)
    #expect(DoctorSummary(harmless).status == .success)
  }

  @Test("a broker that is down is a failure")
  func reducedReplicas() throws {
    let present = fixture.catalog.topics.map { topic in
      TopicDescription(
        name: topic.topic, partitionCount: topic.lanes, replicationFactor: topic.replication, settings: topic.settings,
        partitions: Array(
          repeating: PartitionReplicas(
            hasLeader: true, replicas: topic.replication, inSync: topic.replication - 1), count: topic.lanes))
    }
    let survey = TopicsSurvey(
      catalog: fixture.catalog, present: present,
      cluster: ClusterDescription(clusterID: "c", brokerCount: 2, absentBrokers: [3]), durability: .strict)
    let found = ClusterChecks.topics(survey) + ClusterChecks.replicas(survey)
    #expect(found.map(\.severity) == [.good, .failure])
    #expect(found.last?.what.contains("not in sync") == true && found.last?.remedy?.hasPrefix("start broker 3") == true)
    #expect(!DoctorSummary(found).sentence.contains("No problems"))
  }

  @Test("a cluster as declared has no findings")
  func good() { #expect(findings(present()).map(\.severity) == [.good, .good]) }

  @Test("a missing topic is reported once, by the topics check")
  func missing() {
    let found = findings(present().filter { $0.topic != NotificationFamily.refunds.topic })
    #expect(found.map(\.severity) == [.failure, .good] && found[0].what == "the topic is missing")
    #expect(found[0].subject == NotificationFamily.refunds.topic && found[0].remedy == "run millrace topics apply")
  }

  @Test("every weaker setting has a finding and a remedy")
  func weaker() {
    let table: [(String, (inout TopicState) -> Void)] = [
      ("partitions", { $0.partitions = 7 }), ("replicas", { $0.replication = 1 }),
      ("min.insync.replicas", { $0.settings?["min.insync.replicas"] = "1" }),
      ("unclean", { $0.settings?["unclean.leader.election.enable"] = "true" }),
      ("max.message.bytes", { $0.settings?["max.message.bytes"] = "1000" }),
      ("retention.ms", { $0.settings?["retention.ms"] = "1000" }),
    ]
    for (word, change) in table {
      let found = findings(present(change)).filter { $0.severity == .failure }
      #expect(!found.isEmpty && found.allSatisfy { $0.remedy?.isEmpty == false })
      #expect(found.contains { $0.what.contains(word) || $0.what.contains("lean") && word == "unclean" }, "\(found)")
    }
  }

  @Test("relaxed durability skips the comparison and reports that")
  func relaxed() {
    let found = ClusterChecks.durability(fixture.catalog, [], .relaxed)
    #expect(found.map(\.severity) == [.skipped] && found[0].remedy != nil)
  }

  private func log() throws -> InMemoryLog {
    let log = InMemoryLog(clock: .system)
    try log.createTopic("millrace.control", partitions: 1)
    return log
  }

  @Test("the probe record is read back, and readers of the topic ignore it")
  func probe() async throws {
    let log = try log()
    let found = await ClusterChecks.probe(log, prefix: "", clock: .system, limit: .seconds(30))
    #expect(found.severity == .good && found.time != nil && found.what.contains("written in"))
    let record = try #require(log.records(in: "millrace.control").first)
    #expect(try JSONObject(parsing: try #require(record.value)) == ["kind": "probe"])
  }

  @Test("a probe record that is not accepted is a failure")
  func unwritten() async throws {
    let log = try log()
    log.fail(.send, with: [KafkaError(code: .messageTooLarge, operation: "send", reason: "too large")])
    let found = await ClusterChecks.probe(log, prefix: "", clock: .system, limit: .seconds(30))
    #expect(found.severity == .failure && found.what.contains("too large") && found.remedy != nil)
  }

  @Test("a probe record that is not read back is a failure")
  func unread() async throws {
    let found = await ClusterChecks.probe(
      BlindLog(log: try log()), prefix: "", clock: .system, limit: .milliseconds(20))
    #expect(found.severity == .failure && found.what.contains("could not be read back") && found.remedy != nil)
  }

  @Test("if the cluster does not respond, the other checks are skipped")
  func unreachable() async throws {
    var configuration = fixture.configuration()
    configuration.kafka.bootstrapServers = "127.0.0.1:1"
    var options = Doctor.Options()
    options.timeout = .milliseconds(100)
    let summary = try await Doctor(configuration, options, clock: .system) { _ in }.run()
    let cluster = try #require(summary.findings.first { $0.check == .cluster })
    #expect(cluster.severity == .failure && cluster.remedy?.contains("kafka.bootstrapServers") == true)
    let skipped = summary.findings.filter { $0.severity == .skipped }.map(\.check)
    #expect(
      skipped == [
        .topics, .replicas, .durability, .transactions, .probe, .workers, .conditions, .apple, .testNotification,
      ])
    #expect(summary.status == .failure && summary.sentence.contains("skipped"))
  }

  @Test("the doctor runs as a process on the embedded cluster")
  func process() async throws {
    let cluster = try TestCluster(fixture.catalog)
    let arguments = ["doctor", "--skip", "apple", "--json"]
    let environment = [
      "MILLRACE_KAFKA_BOOTSTRAP_SERVERS": cluster.embedded.bootstrapServers, "MILLRACE_TOPICS_LANES": "3",
      "MILLRACE_KAFKA_DURABILITY": "relaxed",
    ]
    let result = try await CommandProcess.run(arguments, environment: environment)
    #expect(result.status == 0, "\(result.out) \(result.err)")
    let checks = try result.out.split(separator: "\n").map { line in
      try JSONObject(parsing: Array(line.utf8))["check"].flatMap { String(jsonValue: $0) } ?? ""
    }
    #expect(Set(checks) == Set(DoctorFinding.Check.allCases.map(\.rawValue)))
    #expect(result.err.contains("No problems found, 3 warnings"))
    // The cluster has a different number of lanes.
    let wrong = try await CommandProcess.run(
      arguments, environment: environment.merging(["MILLRACE_TOPICS_LANES": "5"]) { $1 })
    #expect(wrong.status == 1 && wrong.out.contains("topics.lanes"))
    let broken = try await CommandProcess.run(arguments, environment: ["MILLRACE_NO_SUCH_KEY": "1"])
    #expect(broken.status == 78 && broken.out.contains(#""check":"configuration","result":"configuration""#))
  }
}

/// A log whose records cannot be read.
private struct BlindLog: ForwardingLog {
  let log: InMemoryLog

  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    try await MillraceClock.system.sleep(for: .seconds(3_600))
    return 0
  }
}

@Suite("The doctor's findings on Apple", .timeLimit(.minutes(15)))
struct DoctorAppleTests {
  private let fixture: APIFixture
  private let history = "POST production /inApps/v1/notifications/history"
  private let test = "inApps/v1/notifications/test"
  private let topic = NotificationFamily.tests.topic

  init() throws { fixture = try APIFixture() }

  private func checks() throws -> AppleChecks {
    let (app, client) = try fixture.client()
    return AppleChecks(
      client: client, target: BackfillTarget(bundleId: app.settings.bundleId, environment: .production),
      clock: fixture.time.clock)
  }

  @Test("a response that accepts the key is enough")
  func reached() async throws {
    fixture.store.answer(history, .init(body: ["notificationHistory": [], "hasMore": false]))
    let found = try await checks().reach()
    #expect(found.severity == .good && found.subject?.hasSuffix("in Production") == true && found.time != nil)
  }

  @Test("a refused key, an unknown app and a failing Apple each have a remedy")
  func unreached() async throws {
    let table: [(FakeAppStore.Answer, DoctorFinding.Severity, String)] = [
      (.init(status: 401), .configuration, "key"), (.error(.invalidAppIdentifier), .configuration, "App Store Connect"),
      (.error(.generalInternalRetryable), .failure, "again"), (.error(.rateLimitExceeded), .failure, "again"),
      (.init(status: 502), .failure, "again"),
    ]
    for (answer, severity, word) in table {
      fixture.store.answer(history, answer)
      let found = try await checks().reach()
      #expect(found.severity == severity && found.remedy?.contains(word) == true, "\(found)")
    }
  }

  // MARK: - A test notification

  private func log() throws -> InMemoryLog {
    let log = InMemoryLog(clock: fixture.time.clock)
    try log.createTopic(topic, partitions: 3)
    return log
  }

  private func status(_ result: SendAttemptResult?) throws -> FakeAppStore.Answer {
    guard let result else { return .error(.testNotificationNotFound) }
    var response = CheckTestNotificationResponse()
    response.signedPayload = String(decoding: try fixture.fixture.sample(.test).jws, as: UTF8.self)
    var attempt = SendAttemptItem()
    attempt.attemptDate = APIFixture.now
    attempt.sendAttemptResult = result
    response.sendAttempts = [attempt]
    return .init(body: response.json)
  }

  /// Runs the check while time advances. If `arrive` is true, the notification is written to Kafka.
  private func arrival(_ result: SendAttemptResult?, arrive: Bool) async throws -> DoctorFinding {
    fixture.store.answer("POST production /\(test)", .init(body: ["testNotificationToken": "t-1"]))
    fixture.store.answer("GET production /\(test)/t-1", try status(result))
    let log = try log()
    // A different notification, which the check must ignore.
    let record = try await fixture.fixture.record(v2: try fixture.fixture.sample(.test, seed: 2)).producerRecord
    try log.append(record)
    let (checks, topic) = (try checks(), topic)
    let finding = Task { await checks.arrival(in: topic, of: log, waiting: .seconds(60)) }
    if arrive {
      try await waitUntil(!fixture.store.asked.isEmpty)
      try log.append(try await fixture.fixture.record(v2: try fixture.fixture.sample(.test)).producerRecord)
    }
    let ended = Task { await finding.value }
    let time = fixture.time
    return await withTaskGroup(of: DoctorFinding?.self) { group in
      group.addTask { await ended.value }
      group.addTask {
        while !Task.isCancelled {
          time.advance(by: .milliseconds(20))
          for _ in 0..<50 { await Task.yield() }
        }
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first ?? DoctorFinding(.testNotification, .skipped, "no finding")
    }
  }

  @Test("the notification was requested, posted and written to Kafka")
  func arrived() async throws {
    let found = try await arrival(.success, arrive: true)
    #expect(found.severity == .good && found.what.contains("in Kafka after") && found.time != nil, "\(found)")
  }

  @Test("the notification was answered with success but is not in Kafka")
  func elsewhere() async throws {
    let found = try await arrival(.success, arrive: false)
    #expect(found.severity == .failure && found.remedy?.contains("URL in App Store Connect") == true, "\(found)")
  }

  @Test("Apple could not deliver the notification, or has not tried")
  func failed() async throws {
    let tls = try await arrival(.tlsIssue, arrive: false)
    #expect(tls.severity == .failure && tls.what.contains("TLS_ISSUE") && tls.remedy?.contains("certificate") == true)
    let pending = try await arrival(nil, arrive: false)
    #expect(pending.severity == .failure && pending.what.contains("has not tried within 1m") && pending.remedy != nil)
  }

  @Test("no URL is set, or the topic does not exist")
  func missing() async throws {
    fixture.store.answer("POST production /\(test)", .error(.serverNotificationUrlNotFound))
    let url = try await checks().arrival(in: topic, of: try log(), waiting: .seconds(60))
    #expect(url.severity == .configuration && url.remedy?.contains("App Store Connect") == true, "\(url)")
    let none = try await checks().arrival(in: "t", of: try log(), waiting: .seconds(60))
    #expect(none.severity == .failure && none.what.contains("missing"), "\(none)")
  }
}
