// An actor around the tables: the readers of topics write to it, and pages read from it.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceCore
internal import MillraceWorker
internal import Operations
internal import RenewalExtensions

actor ConsoleStore {
  private var tables: ConsoleTables
  private let alerts: AlertSettings
  private let clock: MillraceClock
  private let real: MillraceClock
  private let onChange: @Sendable () -> Void
  private var certificates: [ExpiringCertificate] = []
  private var shown: (version: Int, second: Int64, overview: Overview)?

  /// - Parameters:
  ///   - alerts: The limits of the conditions that need attention.
  ///   - clock: The workers' clock, which may run faster in a rehearsal.
  ///   - real: Real time, which record timestamps use.
  ///   - onChange: Called after each change.
  init(
    _ topics: ConsoleTopics, deadLetters: Int, alerts: AlertSettings = AlertSettings(), clock: MillraceClock,
    real: MillraceClock = .system,
    onChange: @escaping @Sendable () -> Void = {}
  ) {
    tables = ConsoleTables(topics, deadLetters: deadLetters)
    self.alerts = alerts
    self.clock = clock
    self.real = real
    self.onChange = onChange
  }

  func begin(reading whole: Set<TopicPartition>) { change { $0.begin(reading: whole, at: real.wallTime) } }
  func reach(_ partition: TopicPartition) { change { $0.reach(partition) } }
  func report(_ problem: String?, of part: String) { change { $0.report(problem, of: part) } }
  func reportHistory(_ problem: String?) { change { $0.reportHistory(problem) } }
  func learn(_ facts: ClusterFacts) { change { $0.learn(facts) } }
  func learn(_ certificates: [ExpiringCertificate]) {
    self.certificates = certificates
    onChange()
  }

  func learn(_ reports: [CampaignReport]) { change { $0.learn(reports) } }

  func apply(_ records: [ConsumerRecord]) {
    change { $0.apply(records, now: real.wallTime, wallTime: clock.wallTime) }
  }

  private func change(_ work: (inout ConsoleTables) -> Void) {
    work(&tables)
    onChange()
  }

  var facts: ClusterFacts { tables.facts }
  var campaigns: [Campaign] { tables.campaigns.campaigns }
  var isCaughtUp: Bool { tables.isCaughtUp }

  /// Returns the state for the first page, cached for up to a second while nothing changes.
  func overview() -> Overview {
    let now = real.wallTime
    let second = now.millisecondsSince1970 / 1_000
    if let shown, shown.version == tables.version, shown.second == second { return shown.overview }
    var overview = tables.overview(now: now, wallTime: clock.wallTime)
    let status = status(overview)
    overview.conditions = status.conditions(alerts)
    for worker in status.workers { overview.processes[worker.lag.worker] = worker.processes }
    overview.budgets = status.workers.flatMap { worker in worker.budgets.map { (worker.lag.worker, $0) } }
    overview.pauses = status.pauses
    overview.ingress = status.ingress
    shown = (tables.version, second, overview)
    return overview
  }

  /// Returns whether the figures are of the present.
  func outcome(remedy: String) -> CheckOutcome {
    let now = real.wallTime
    guard let at = tables.facts.at else {
      return .unhealthy(tables.problems["Kafka"] ?? "Kafka has not answered yet", remedy: remedy)
    }
    return tables.facts.isStale(at: now)
      ? .unhealthy("Kafka has not answered for \(Words.span(now - at))", remedy: remedy)
      : .healthy("the figures are from \(at.rfc3339)")
  }

  /// When Kafka answered last, if that is so long ago that it does not answer at present; otherwise nil.
  var silentSince: Timestamp? { tables.facts.at.flatMap { tables.facts.isStale(at: real.wallTime) ? $0 : nil } }

  /// Returns the state of the deployment.
  func status() -> DeploymentStatus { status(overview()) }

  private func status(_ overview: Overview) -> DeploymentStatus {
    DeploymentStatus(
      overview, tables.facts, tables.topics, reports: tables.processes.reports(at: overview.now),
      pauses: tables.processes.pauses(at: overview.wallTime), restarts: tables.processes.restarts(at: overview.now),
      clockErrors: tables.processes.clockErrors(at: overview.now), certificates: certificates)
  }

  /// Returns a sample if the present interval has none some time after its beginning. Without present figures there is none.
  func missingSample(after patience: Duration) -> HistorySample? {
    let now = real.wallTime
    let start = HistorySample.start(of: HistorySample.interval(of: now))
    guard now - start >= patience, tables.isCaughtUp, tables.facts.at != nil, !tables.facts.isStale(at: now),
      tables.topics.names(where: { $0 == .control }).contains(where: { tables.facts.topics[$0] != nil }),
      !tables.history.isSampled(at: now)
    else { return nil }
    return HistorySample(status())
  }

  /// Returns a page of dead letters and the values that its filters offer.
  func deadLetters(_ query: DeadLetterQuery, from start: Int, count: Int) -> DeadLetterListing {
    let page = tables.deadLetters.page(query, from: start, count: count)
    let filters = tables.deadLetters.filters()
    return DeadLetterListing(
      query: query, start: start, page: page, workers: tables.topics.workers, reasons: filters.reasons,
      apps: filters.apps, dropped: tables.deadLetters.dropped, isCaughtUp: tables.isCaughtUp,
      now: clock.wallTime)
  }

  func run(_ id: String) -> RunSummary? {
    tables.runSummaries(at: real.wallTime).first { $0.id == id } ?? action(id).map { RunSummary($0) }
  }
  func action(_ id: String) -> AuditSurvey.Line? { tables.action(id, at: real.wallTime) }
  func replay(_ id: String) -> ReplayRun? { tables.replays[id] }
  func backfill(_ id: String) -> BackfillRun? { tables.backfills[id] }

  func deadLetter(_ key: DeadLetterKey) -> DeadLetterEntry? { tables.deadLetters[key] }

  /// Returns the status of a dead letter, even of one that is not kept in memory.
  func status(of key: DeadLetterKey) -> OperationsLog.Status? { tables.deadLetters.status(of: key) }
}

/// A page of dead letters with the choices of its filters.
struct DeadLetterListing: Sendable {
  var query: DeadLetterQuery
  var start: Int
  var page: DeadLetterIndex.Page
  var workers: [String]
  var reasons: [String]
  var apps: [String]
  var dropped: Int
  var isCaughtUp: Bool
  var now: Timestamp
}
