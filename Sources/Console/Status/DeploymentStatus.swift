// The state of a deployment: one value behind `millrace status`, the conditions that the doctor finds, and alerts. It is
// made of the tables of the console.

internal import AppStore
internal import AppStoreServerAPI
package import KafkaClient
internal import Logging
package import MillraceCore
internal import MillraceRecords
internal import MillraceTime
internal import Operations

/// The state of a deployment at one time.
package struct DeploymentStatus: Sendable {
  /// A process of a worker.
  struct Process: Sendable, Hashable {
    /// The address from which it joined its group; nil if the cluster does not tell it.
    var host: String?
    /// The name of a static member, or the random one of its report.
    var instance: String?
    var lanes: [Int32]
    /// Millrace's version; nil if the process has not reported it.
    var version: String?
    /// Why it does not work; nil if it does, as far as it is known.
    var problem: String?
  }

  struct Worker: Sendable {
    var lag: WorkerLag
    /// Nil if neither the cluster nor any process tells.
    var processes: [Process]?
    var retries: [RetryTable.Row]
    /// Open dead letters by cause.
    var dead: [DeadLetterGroups.Group]
    /// The open circuit of its endpoint.
    var circuit: ProcessReport.Circuit?
    /// The number of timers that fail and fire again.
    var failingTimers = 0
    /// How often processes began again without an orderly end, by their static names.
    var restarts: [String: Int] = [:]
    /// The use of Apple's limits by all of its processes.
    var budgets: [ProcessReport.Budget]

    var waiting: Int { retries.reduce(0) { $0 + $1.waiting } }
    var open: Int { dead.reduce(0) { $0 + $1.open } }
  }

  /// `millrace-postgres`.
  struct Writer: Sendable, Hashable {
    /// The number of processes; nil if unknown.
    var processes: Int?
    var problem: String?
    /// The offsets that are not written, by topic.
    var lag: [String: Int64]
  }

  /// The console that posts alerts.
  struct Poster: Sendable, Hashable {
    /// Nil if no process posts.
    var instance: String?
    /// Why the receiver does not get the alerts, or why not all conditions are known.
    var problem: String?
  }

  /// A process of the ingress.
  struct Ingress: Sendable, Hashable {
    var instance: String
    var version: String
    var startedAt: Timestamp?
    /// The requests that it has refused since then, by reason.
    var refusals: [ProcessReport.Refusals]
  }

  /// The bodies that the ingress refused.
  struct Quarantine: Sendable, Hashable {
    /// The number of offsets in the topic.
    var offsets: Int64
    /// The records of the last 15 minutes by reason.
    var recent: [String: Int]
  }

  var workers: [Worker]
  /// The times until which Apple accepts no calls.
  var pauses: [BudgetPause]
  /// Nil if no database is configured, and no process writes to one.
  var postgres: Writer?
  /// The processes of the ingress that have reported.
  var ingress: [Ingress]
  /// Nil if the topic does not exist.
  var quarantine: Quarantine?
  /// Consumption requests without an answer; nil without the worker `consumption`.
  var deadlines: Overview.Deadlines?
  /// Nil if no alerts are posted.
  var alerts: Poster?
  /// The new notifications of types that this version does not know, by type.
  var unknownTypes: [String: Int]
  /// How far the clocks of processes are ahead, by worker and instance; negative if they are behind.
  var clockErrors: [String: Duration]
  /// Why the members of some groups are unknown, by group.
  var refused: [String: KafkaError]
  /// The workers of these groups.
  var unknown: Set<String>
  /// The certificates that expire soon.
  var certificates: [ExpiringCertificate]
  /// Real time, which record timestamps use.
  var at: Timestamp
  /// The workers' time, which may run faster in a rehearsal.
  var wallTime: Timestamp

  /// The time for which something new needs attention, as in the alerts of the chart.
  static let recently = 15

  init(
    _ overview: Overview, _ facts: ClusterFacts, _ topics: ConsoleTopics, reports: [ProcessReport] = [],
    pauses: [BudgetPause] = [], restarts: [String: [String: Int]] = [:], clockErrors: [String: Duration] = [:],
    certificates: [ExpiringCertificate] = []
  ) {
    let unknown = Set(overview.workers.map(\.worker).filter { facts.refused[topics.group(of: $0)] != nil })
    self.unknown = unknown
    ingress = reports.filter { $0.name == ProcessReport.ingress }.map {
      Ingress(instance: $0.instance, version: $0.version, startedAt: $0.startedAt, refusals: $0.refusals)
    }
    // An ingress reports on every cluster, which says nothing about the reports of workers.
    let reports = reports.filter { $0.name != ProcessReport.ingress }
    workers = overview.workers.map { lag in
      let own = reports.filter { $0.name == lag.worker }
      return Worker(
        lag: lag,
        processes: facts.members[topics.group(of: lag.worker)].map { Self.processes(of: $0, own) }
          ?? (reports.isEmpty || own.isEmpty && unknown.contains(lag.worker) ? nil : Self.processes(own)),
        retries: overview.retries.filter { $0.worker == lag.worker },
        dead: overview.deadLetters.groups.filter { $0.key.worker == lag.worker },
        circuit: own.compactMap(\.circuit).first,
        failingTimers: own.reduce(0) { $0 + $1.failingTimers }, restarts: restarts[lag.worker] ?? [:],
        budgets: Self.sum(own.flatMap(\.budgets)))
    }
    let writers = reports.filter { $0.name == ProcessReport.postgres }
    if topics.postgres != nil || !writers.isEmpty {
      let members = topics.postgres.flatMap { facts.members[$0]?.count }
      postgres = Writer(
        processes: members ?? (reports.isEmpty ? nil : writers.count), problem: writers.compactMap(\.problem).first,
        lag: writers.reduce(into: [:]) { lag, report in lag.merge(report.lag) { max($0, $1) } })
    }
    let kept = facts.ranges.filter { topics.kinds[$0.key.topic] == .quarantine }.values
    if !kept.isEmpty {
      quarantine = Quarantine(
        offsets: kept.reduce(0) { $0 + Int64($1.count) },
        recent: overview.flow.filter { $0.key.outcome == .quarantined }.reduce(into: [:]) { counts, row in
          let count = row.total(ofLast: Self.recently)
          if count > 0 { counts[row.key.label, default: 0] += count }
        })
    }
    unknownTypes = overview.flow.filter { $0.isOfUnknownType }.reduce(into: [:]) { counts, row in
      let count = row.total(ofLast: Self.recently)
      if count > 0 { counts[row.key.label] = count }
    }
    (self.clockErrors, self.certificates) = (clockErrors, certificates)
    if topics.postsAlerts {
      let poster = reports.first { $0.name == ProcessReport.console }
      alerts = Poster(instance: poster?.instance, problem: poster?.problem)
    }
    refused = facts.refused
    self.pauses = pauses
    (deadlines, at, wallTime) = (overview.deadlines, overview.now, overview.wallTime)
  }

  /// Joins the members of a group with the reports of their processes. A lane has one owner, so it tells them apart.
  private static func processes(of members: [GroupMember], _ reports: [ProcessReport]) -> [Process] {
    members.map { member in
      let lanes = Set(member.partitions.map(\.partition))
      let report =
        reports.first { $0.instance == member.instance } ?? reports.first { !lanes.isDisjoint(with: $0.lanes) }
      return Process(
        host: member.host, instance: member.instance, lanes: lanes.sorted(), version: report?.version,
        problem: report?.problem)
    }.sorted { ($0.lanes.first ?? .max, $0.instance ?? "") < ($1.lanes.first ?? .max, $1.instance ?? "") }
  }

  private static func processes(_ reports: [ProcessReport]) -> [Process] {
    reports.map { Process(instance: $0.instance, lanes: $0.lanes, version: $0.version, problem: $0.problem) }
  }

  private static func sum(_ budgets: [ProcessReport.Budget]) -> [ProcessReport.Budget] {
    var sums: [[String]: ProcessReport.Budget] = [:]
    for budget in budgets {
      let key = [budget.endpoint, budget.bundleId, budget.environment]
      guard var sum = sums[key] else {
        sums[key] = budget
        continue
      }
      sum.perSecond += budget.perSecond
      sum.waiting += budget.waiting
      sum.isRefused = sum.isRefused || budget.isRefused
      sums[key] = sum
    }
    return sums.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }

  /// Whether every configured worker has a process, as far as it is known.
  package var isComplete: Bool { workers.allSatisfy { $0.processes?.isEmpty != true } }
}

extension DeploymentStatus {
  /// Reads the state once, with the console's readers.
  ///
  /// - Parameter limit: The time limit for all topics that are read.
  /// - Throws: `KafkaError` if the cluster does not answer; ``OperationError`` if the limit passes; `MillraceError`.
  package static func read(
    _ configuration: MillraceConfiguration, _ kafka: KafkaConfiguration, within limit: Duration = .seconds(60)
  ) async throws -> DeploymentStatus {
    let topics = ConsoleTopics(try TopicCatalog.load(configuration), configuration)
    // It says at once that the cluster does not answer.
    _ = try await kafka.describeCluster(timeout: ClusterSurvey.timeout)
    let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let store = ConsoleStore(
      topics, deadLetters: configuration.console.deadLetters, clock: MillraceClock(configuration.clock)
    ) { changed.yield() }
    let reader = ConsoleReader(
      configuration: configuration, kafka: kafka, topics: topics, store: store,
      logger: Logger(label: "millrace.status") { _ in SwiftLogNoOpLogHandler() })
    let began = MillraceClock.system.now
    let isRead = try await MillraceClock.system.result(within: limit) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await reader.run() }
        group.addTask {
          for await _ in changes {
            if await store.isCaughtUp { return }
            // New topics may have no leader yet. The console would retry for longer, but an operator waits for this.
            if began.duration(to: MillraceClock.system.now) > .seconds(10),
              let problem = await store.overview().problems["Kafka"]
            {
              throw OperationError(.failed, problem, at: "Kafka", remedy: "run millrace doctor")
            }
          }
        }
        try await group.next()
        group.cancelAll()
      }
      return true
    }
    guard isRead == true else {
      throw OperationError(
        .failed, "not all topics could be read in time", at: "Kafka", remedy: "run millrace doctor")
    }
    return await store.status()
  }
}
