// Tests the state that `millrace status` prints, made of the console's values.

import AppStore
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import Operations
import Testing

@testable import Console

@Suite struct DeploymentStatusTests {
  private static let at = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private static func topics(_ change: (inout MillraceConfiguration) -> Void = { _ in }) throws -> ConsoleTopics {
    let configuration = Deployment.configuration {
      $0.workers = ["refunds": WorkerEntry(), "winback": WorkerEntry()]
      change(&$0)
    }
    return ConsoleTopics(try TopicCatalog.load(configuration), configuration)
  }

  private func status(
    members: [String: [GroupMember]] = [:], reports: [ProcessReport] = [], isDeadOpen: Bool = true,
    refused: [String: KafkaError] = [:], flow: [FlowTable.Row] = [], restarts: [String: [String: Int]] = [:],
    clockErrors: [String: Duration] = [:],
    _ change: (inout MillraceConfiguration) -> Void = { _ in }
  ) throws -> DeploymentStatus {
    var facts = ClusterFacts()
    let live = TopicPartition(topic: "appstore.notifications.refunds", partition: 0)
    facts.topics = [live.topic: 1]
    facts.ranges = [live: 0..<10, TopicPartition(topic: "millrace.quarantine", partition: 1): 3..<8]
    facts.committed = ["refunds": [live: 6]]
    facts.oldest = [live: [6: Self.at - .seconds(90)]]
    facts.members = members
    try facts.learn(refused.mapValues { .failure($0) })
    let lag = WorkerLag("refunds", inputs: [live.topic], facts: facts) { $0 }
    let other = WorkerLag("winback", inputs: [], facts: facts) { $0 }
    let retry = RetryTable.Row(
      worker: "refunds", delay: "5m", waiting: 3, due: [:], reasons: ["busy": 2, "timeout": 1],
      next: Self.at + .seconds(60))
    var dead = DeadLetterGroups()
    for _ in 0..<2 {
      dead.add(
        .init(worker: "refunds", reason: "unverified", app: "com.example"), isOpen: isDeadOpen,
        at: Self.at - .seconds(86_400))
    }
    let overview = Overview(
      now: Self.at, wallTime: Self.at, surveyedAt: Self.at, countedSince: Self.at, isCaughtUp: true, problems: [:],
      flow: flow, workers: [lag, other], retries: [retry], webhooks: [],
      deadLetters: .init(groups: dead.groups, open: 2, kept: 2, dropped: 0), campaigns: nil, reports: [:],
      deadlines: nil,
      runs: nil, audit: nil)
    return DeploymentStatus(
      overview, facts, try Self.topics(change), reports: reports, restarts: restarts, clockErrors: clockErrors)
  }

  private static var member: GroupMember {
    var member = GroupMember(id: "m", instance: "pod-0", host: "/10.0.0.1")
    member.partitions = Set([0, 2].map { TopicPartition(topic: "t", partition: $0) })
    return member
  }

  private static var report: ProcessReport {
    var report = ProcessReport("refunds", instance: "pod-0", version: "0.1.0")
    (report.lanes, report.failingTimers) = ([0, 2], 3)
    report.circuit = ProcessReport.Circuit(isMisconfigured: true, cause: "answered 410")
    report.budgets = [
      .init(
        bundleId: "com.example", environment: "Production", endpoint: "getTransactionInfo", perSecond: 0.5, waiting: 7)
    ]
    return report
  }

  private let settings = AlertSettings()

  private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  @Test func `a worker has its processes, lanes, lag, retries and dead letters, and one without a process says so`()
    throws
  {
    let status = try status(members: ["millrace.refunds": [Self.member]], reports: [Self.report])
    #expect(!status.isComplete)
    let lines = status.lines(settings, lineWidth: nil, usesColor: false)
    #expect(words(lines[1]).prefix(7) == ["refunds", "1", "4", "90s", "3", "2", "circuit"], "\(lines)")
    #expect(lines[1].contains("3 failing timers; retries: 2 busy (5m), 1 timeout (5m); dead: 2 unverified"), "\(lines)")
    #expect(lines[2].contains("winback") && lines[2].contains("none runs") && lines[2].contains("has not run"))
    #expect(words(lines[4]) == ["getTransactionInfo", "com.example", "Production", "refunds", "30", "7"], "\(lines)")
    #expect(lines.last == "Quarantine: 5 records; millrace quarantine list shows them.")
    let json = try status.jsonLines(settings).map { try JSONObject(parsing: Array($0.utf8)) }
    #expect(json.count == 3 && json[0]["lag"] == 4 && json[1]["processes"] == [] && json[2]["quarantine"] == 5)
    #expect(
      json[0]["processes"] == [["host": "/10.0.0.1", "instance": "pod-0", "version": "0.1.0", "lanes": [0, 2]]])
    #expect(json[0]["lanes"] == [["lane": 0, "lag": 4, "oldest": .string((Self.at - .seconds(90)).rfc3339)]])
    #expect(json[0]["circuit"] == ["misconfigured": true, "cause": "answered 410"])
    guard case .array(let retries)? = json[0]["retries"], case .object(let retry)? = retries.first else {
      Issue.record("no retries: \(json[0])")
      return
    }
    #expect(retry["reasons"] == ["busy": 2, "timeout": 1])
  }

  @Test func `each line of JSON has the members that scripts read`() throws {
    let status = try status(reports: [Self.report]) { $0.postgres.url = "postgresql://db/app" }
    let json = try status.jsonLines(settings).map { try JSONObject(parsing: Array($0.utf8)).members.map(\.key) }
    #expect(
      json[0] == [
        "worker", "hasTopics", "hasRun", "processes", "lag", "oldest", "lanes", "retries", "deadLetters", "circuit",
        "failingTimers", "restarts", "budgets",
      ])
    #expect(json.last == ["at", "quarantine", "quarantined", "pauses", "postgres", "conditions"])
  }

  @Test func `the refusals of all ingress processes are summed by reason, and each process is in the JSON`() throws {
    func report(_ instance: String, _ refusals: [(String, Int64, Int64)]) -> ProcessReport {
      var report = ProcessReport(ProcessReport.ingress, instance: instance, version: "0.1.0")
      report.startedAt = Self.at - .seconds(60)
      report.refusals = refusals.map { .init(reason: $0.0, count: $0.1, lastAt: Self.at - .seconds($0.2)) }
      return report
    }
    let status = try status(reports: [
      report("a", [("chain", 2, 30), ("busy", 1, 40)]), report("b", [("chain", 3, 20)]),
    ])
    let lines = status.lines(settings, lineWidth: nil, usesColor: false)
    let first = try #require(lines.firstIndex { $0.hasPrefix("INGRESS REFUSED") })
    #expect(words(lines[first + 1]).prefix(2) == ["chain", "5"] && words(lines[first + 2]).prefix(2) == ["busy", "1"])
    let json = try JSONObject(parsing: Array(try #require(status.jsonLines(settings).last).utf8))
    guard case .array(let processes)? = json["ingress"], case .object(let second)? = processes.last else {
      Issue.record("no processes: \(json)")
      return
    }
    let chain: JSON = ["count": 3, "lastAt": .string((Self.at - .seconds(20)).rfc3339)]
    #expect(second["refusals"] == ["chain": chain] && second["instance"] == "b")
    // An ingress that reports does not make workers without reports look ended.
    #expect(status.isComplete)
  }

  @Test func `an embedded cluster does not tell the processes, and reports of processes do`() throws {
    let silent = try status()
    #expect(silent.isComplete)
    #expect(silent.lines(settings, lineWidth: nil, usesColor: false)[1].contains("unknown"))
    #expect(try JSONObject(parsing: Array(silent.jsonLines(settings)[0].utf8))["processes"] == nil)
    let told = try status(reports: [Self.report])
    #expect(!told.isComplete)
    #expect(told.workers.map { $0.processes?.count } == [1, 0])
    let running = ["millrace.refunds", "millrace.winback"].map { ($0, [Self.member]) }
    #expect(try self.status(members: Dictionary(uniqueKeysWithValues: running)).isComplete)
  }

  @Test func `a group that refuses this process hides only its own members`() throws {
    let refusal = KafkaError(
      code: .groupAuthorizationFailed, operation: "describe the group millrace.winback", reason: "refused")
    let status = try status(members: ["millrace.refunds": [Self.member]], refused: ["millrace.winback": refusal])
    #expect(status.workers.map { $0.processes?.count } == [1, nil])
    #expect(status.isComplete && status.conditions(settings).allSatisfy { $0.kind != .workerNotRunning })
    let sentence = "Processes are known by their reports only: \(refusal)."
    #expect(status.lines(settings, lineWidth: nil, usesColor: false).contains(sentence))
    #expect(try JSONObject(parsing: Array(status.jsonLines(settings)[2].utf8))["refused"] == [.string("\(refusal)")])
    let closed = KafkaError(code: .closed, operation: "describe the group", reason: "away")
    #expect(throws: KafkaError.self) { try self.status(refused: ["millrace.winback": closed]) }
  }

  @Test func `the doctor names workers without a process, and counts the others`() throws {
    func findings(_ status: DeploymentStatus) -> [DoctorFinding] {
      status.findings(settings).filter { $0.check == .workers }
    }
    let absent = findings(try status(members: ["millrace.refunds": [Self.member], "millrace.winback": []]))
    #expect(absent.map(\.subject) == ["winback"] && absent[0].severity == .failure && absent[0].remedy != nil)
    let running = findings(try status(members: ["millrace.refunds": [Self.member], "millrace.winback": [Self.member]]))
    #expect(running.map(\.what) == ["2 workers run, with 2 members"] && running[0].severity == .good)
    #expect(findings(try status()).map(\.severity) == [.skipped])
    let refusal = KafkaError(code: .groupAuthorizationFailed, operation: "describe the group", reason: "refused")
    let refused = try status(members: ["millrace.refunds": [Self.member]], refused: ["millrace.winback": refusal])
    #expect(findings(refused).map(\.subject) == ["millrace.winback"])
  }

  @Test func `a dynamic member has the report of its lanes`() throws {
    var (member, report) = (Self.member, Self.report)
    (member.instance, report.instance, report.version) = (nil, "3k1x", "0.2.0")
    let status = try status(members: ["millrace.refunds": [member]], reports: [report])
    #expect(status.workers[0].processes?.first?.version == "0.2.0")
  }

  @Test func `conditions have the first cause first, and settled dead letters are none`() throws {
    let status = try status(members: ["millrace.refunds": [Self.member]], reports: [Self.report])
    #expect(
      status.conditions(settings).map(\.line) == [
        "worker-not-running: winback: no process of the worker runs",
        "circuit-open: refunds: the endpoint answers as if it were misconfigured: answered 410; records wait",
        "dead-letters: refunds/unverified: 2 open dead letters: unverified",
        "timers-failing: refunds: 3 timers failed and will fire again",
      ])
    var impatient = settings
    impatient.lag = .seconds(60)
    #expect(status.conditions(impatient).last?.kind == .lag)
    let settled = try self.status(isDeadOpen: false)
    #expect(settled.conditions(settings).isEmpty)
  }

  @Test func `restarts, wrong clocks, refused tokens and unknown types are conditions`() throws {
    var report = Self.report
    (report.circuit, report.failingTimers) = (nil, 0)
    report.budgets[0].isRefused = true
    func received(_ label: String, family: String = "unrecognized") -> FlowTable.Row {
      var flow = FlowTable()
      flow.count(.init(outcome: .received, place: family, label: label), at: Self.at, now: Self.at)
      return flow.rows(now: Self.at)[0]
    }
    let status = try status(
      members: ["millrace.refunds": [Self.member], "millrace.winback": [Self.member]], reports: [report],
      isDeadOpen: false,
      // A file of topics can leave a known type out on purpose.
      flow: [
        received("NEW_TYPE/NEW"), received("REFUND"), received("CANCEL"), received("NEW_TYPE", family: "refunds"),
      ],
      restarts: ["refunds": ["pod-0": 3, "pod-1": 2], "winback": ["pod-0": 2]],
      clockErrors: ["refunds/pod-0": .seconds(-7_199), "winback/pod-0": .seconds(3_600)])
    #expect(
      status.conditions(settings).map(\.line) == [
        "clock: refunds/pod-0: its clock is about 2h behind the clocks of other processes",
        "clock: winback/pod-0: its clock is about 1h ahead of this machine's",
        "worker-restarts: refunds: began again without an orderly end in 30 minutes: pod-0 3 times",
        "apple: com.example/Production: Apple answers 401 to the calls of refunds",
        "unknown-type: NEW_TYPE/NEW: 1 notification of a type that this version does not know in 15 minutes; no worker "
          + "reads them",
      ])
    #expect(status.lines(settings, lineWidth: nil, usesColor: false)[1].contains("5 restarts"))
    let json = try JSONObject(parsing: Array(status.jsonLines(settings)[0].utf8))
    #expect(json["restarts"] == ["pod-0": 3, "pod-1": 2])
  }

  @Test func `a certificate that expires is a condition on the console's page`() async throws {
    let store = ConsoleStore(try Deployment.topics(), deadLetters: 1, clock: .system)
    await store.learn([ExpiringCertificate(key: "ingress.tls.certificate", path: "a.pem", end: Self.at)])
    #expect(
      await store.overview().conditions.map(\.line) == [
        "certificate: ingress.tls.certificate: a.pem expired at 2026-01-01T00:00:00.000Z"
      ])
  }

  @Test func `the writer of the database and the poster of alerts say what they lack`() throws {
    var writer = ProcessReport(ProcessReport.postgres, instance: "x", version: "0.1.0")
    (writer.problem, writer.lag) = ("connection refused", ["appstore.subscriptions": 12])
    let change: (inout MillraceConfiguration) -> Void = {
      $0.postgres.url = "postgresql://db/app"
      $0.alerts.webhook.url = "https://example.com"
    }
    let failing = try status(members: ["millrace.postgres": [Self.member]], reports: [writer], change)
    #expect(failing.conditions(settings).contains { $0.line == "postgres: postgres: connection refused" })
    let lines = failing.lines(settings, lineWidth: nil, usesColor: false)
    #expect(lines.contains("PostgreSQL: 1 process, 12 behind."))
    #expect(lines.contains("Alerts: no process posts them; start millrace-console."))
    let absent = try status(members: ["millrace.postgres": []], change)
    #expect(absent.conditions(settings).contains { $0.what == "millrace-postgres does not run" })
    #expect(absent.findings(settings).contains { $0.what == "no process posts alerts" })
  }
}
