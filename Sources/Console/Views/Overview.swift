// The state that the first page shows. A value made from the tables, so that views are functions of it.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceRecords
internal import MillraceTime
internal import MillraceWorker
internal import Operations
internal import RenewalExtensions

struct Overview: Sendable {
  /// Open dead letters by cause, the largest group first, and counts.
  struct DeadLetters: Sendable {
    var groups: [DeadLetterGroups.Group]
    var open: Int
    var kept: Int
    var dropped: Int
  }

  /// Consumption requests without an answer.
  struct Deadlines: Sendable {
    var open: Int
    /// The requests with the earliest deadlines.
    var next: [DeadlineTable.Request]
    var outcomes: [String: Int]
  }

  /// Real time, which record timestamps use.
  var now: Timestamp
  /// The workers' time, which may run faster in a rehearsal.
  var wallTime: Timestamp
  var surveyedAt: Timestamp?
  /// Whether Kafka has not answered since some time.
  var isStale = false
  var countedSince: Timestamp?
  var isCaughtUp: Bool
  var problems: [String: String]
  var flow: [FlowTable.Row]
  var workers: [WorkerLag]
  /// The last 24 hours of each worker.
  var history: [HistoryRow] = []
  /// Why the history has no new samples; nil if it has.
  var historyProblem: String?
  var retries: [RetryTable.Row]
  var webhooks: [WebhookRow]
  var deadLetters: DeadLetters
  /// nil if the topic does not exist, as for the optional properties below.
  var campaigns: [Campaign]?
  var reports: [String: CampaignReport]
  var deadlines: Deadlines?
  var runs: [RunSummary]?
  var audit: [AuditSurvey.Line]?
  /// The conditions that need attention, the first cause first.
  var conditions: [AlertCondition] = []
  /// The known processes of each worker.
  var processes: [String: [DeploymentStatus.Process]] = [:]
  /// The use of Apple's limits by workers.
  var budgets: [(worker: String, budget: ProcessReport.Budget)] = []
  /// The processes of the ingress that have reported.
  var ingress: [DeploymentStatus.Ingress] = []
  /// The limits that Apple says are used up.
  var pauses: [BudgetPause] = []
}

extension ConsoleTables {
  static let shownCampaigns = 20
  static let shownDeadlines = 20
  static let shownRuns = 30
  static let shownAudit = 50

  func overview(now: Timestamp, wallTime: Timestamp) -> Overview {
    func exists(_ wanted: (ConsoleTopics.Kind) -> Bool) -> Bool {
      topics.names(where: wanted).contains { facts.topics[$0] != nil }
    }
    let retryRows = topics.workers.flatMap { worker in
      topics.retries(of: worker).map { topic, delay in
        retries.row(
          of: topic, worker: worker, delay: DurationText.text(delay), partitions: facts.topics[topic] ?? 0,
          now: wallTime)
      }
    }
    let workers = topics.workers.map { worker in
      var lag = WorkerLag(worker, inputs: topics.inputs(of: worker), facts: facts, name: topics.shortName)
      lag.hasTopics = exists { $0 == .deadLetters(worker: worker) }
      return lag
    }
    let hasConsumption = topics.workers.contains("consumption") && exists { $0 == .events(worker: "consumption") }
    // A request that was erased or dead-lettered has no event that ends it.
    let requests = deadlines.requests.filter { $0.due > wallTime }
    return Overview(
      now: now, wallTime: wallTime, surveyedAt: facts.at, isStale: facts.isStale(at: now), countedSince: countedSince,
      isCaughtUp: isCaughtUp,
      problems: problems, flow: flow.rows(now: now), workers: workers,
      history: history.rows(of: topics.workers, at: now),
      historyProblem: facts.at != nil && !exists { $0 == .control }
        ? "the topic millrace.control is not in the cluster; run millrace topics apply" : historyProblem,
      retries: retryRows,
      webhooks: webhookRows(now: now, lags: workers, retries: retryRows),
      deadLetters: .init(
        groups: deadLetters.groups().groups.sorted { ($1.open, $0.key) < ($0.open, $1.key) },
        open: deadLetters.openCount, kept: deadLetters.count,
        dropped: deadLetters.dropped),
      campaigns: exists { $0 == .campaigns } ? Array(campaigns.campaigns.suffix(Self.shownCampaigns).reversed()) : nil,
      reports: reports,
      deadlines: hasConsumption
        ? .init(open: requests.count, next: Array(requests.prefix(Self.shownDeadlines)), outcomes: deadlines.outcomes)
        : nil,
      runs: exists { $0 == .operations || $0 == .backfills }
        ? Array(runSummaries(at: now).prefix(Self.shownRuns)) : nil,
      audit: exists { $0 == .audit } ? Array(auditLines(at: now).suffix(Self.shownAudit).reversed()) : nil)
  }

  /// Returns the audit trail, the newest action last.
  func auditLines(at now: Timestamp) -> [AuditSurvey.Line] {
    var pulse = pulse
    pulse.fold(backfills)
    return AuditSurvey(audit, pulse, at: now).lines()
  }
}
