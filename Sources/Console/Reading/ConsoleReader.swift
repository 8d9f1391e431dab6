// The background work of the console: cluster surveys, following topics, and campaign progress from the ledgers. It
// retries what fails and reports the error on the page. Pages are served meanwhile.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import Operations
internal import RenewalExtensions
internal import ServiceLifecycle

/// Keeps the store up to date until graceful shutdown.
struct ConsoleReader: Service {
  let configuration: MillraceConfiguration
  let kafka: KafkaConfiguration
  let topics: ConsoleTopics
  let store: ConsoleStore
  let logger: Logger
  /// Real time, like Kafka's.
  var clock = MillraceClock.system
  var surveyInterval = Self.interval
  var campaignInterval = Duration.seconds(30)

  static let interval = Duration.seconds(2)
  private static let certificateInterval = Duration.seconds(60)

  func run() async throws {
    // Before the topics, whose end lets `millrace status` print.
    await readCertificates()
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await repeatedly("certificates", every: Self.certificateInterval) { await readCertificates() }
        }
        group.addTask { await repeatedly("Kafka", every: surveyInterval) { try await survey() } }
        group.addTask { await repeatedly("campaigns", every: campaignInterval) { try await askLedgers() } }
      }
    }
  }

  private func readCertificates() async {
    await store.learn(CertificateChecks.expiring(configuration, at: clock.wallTime))
  }

  private func repeatedly(
    _ part: String, every interval: Duration, _ work: @escaping @Sendable () async throws -> Void
  ) async {
    while !Task.isCancelled {
      do {
        try await work()
        await store.report(nil, of: part)
      } catch is CancellationError {
        return
      } catch {
        logger.warning("reading from Kafka failed; retrying", metadata: ["part": "\(part)", "error": "\(error)"])
        await store.report("\(error)", of: part)
      }
      do { try await clock.sleep(for: interval) } catch { return }
    }
  }

  /// Repeats the survey and follows the topics until the partitions change.
  private func survey() async throws {
    let cluster = try await kafka.describeCluster(timeout: ClusterSurvey.timeout)
    let log = KafkaLog(kafka.reading(kilobytes: 64, messages: 200), cluster: cluster)
    let survey = try ClusterSurvey(kafka, topics, cluster: cluster)
    let first = try await survey.facts(after: await store.facts)
    // Before the facts, whose arrival lets readers look at the problem.
    await store.report(nil, of: "Kafka")
    await store.learn(first)
    var recent: [TopicPartition: Int64]?
    if !cluster.isEmbedded {
      let since = clock.wallTime - ReadingPlan.horizon
      recent = try await log.offsets(
        of: ReadingPlan.timed(topics, facts: first), since: since.millisecondsSince1970,
        timeout: ClusterSurvey.timeout)
    }
    let plan = ReadingPlan(topics, facts: first, recent: recent)
    await store.begin(reading: plan.judged)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await log.follow(plan.starts, upTo: 200) { partition, page in
          await store.apply(page.records)
          if page.end != nil { await store.reach(partition) }
          return true
        }
      }
      group.addTask {
        var last = first
        while true {
          try await clock.sleep(for: surveyInterval)
          last = try await survey.facts(after: last)
          await store.learn(last)
          // Topics or partitions were added: return, and start again with them.
          if last.topics != first.topics { return }
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Reads the progress of the newest campaigns from the ledgers.
  private func askLedgers() async throws {
    while await !store.isCaughtUp { try await clock.sleep(for: surveyInterval) }
    let facts = await store.facts
    let ledger = WorkerTopics(worker: RenewalExtensionsWorker.name, inputs: [], delays: [], prefix: topics.prefix)
    guard facts.at != nil, topics.workers.contains(RenewalExtensionsWorker.name),
      facts.topics[ledger.deadLetters] != nil
    else { return }
    let campaigns = await store.campaigns.suffix(10)
    guard !campaigns.isEmpty else { return }
    let log = try await KafkaLog.connect(kafka, timeout: ClusterSurvey.timeout)
    let survey = CampaignSurvey(CampaignLog(on: log, prefix: topics.prefix), configuration)
    var reports: [CampaignReport] = []
    for campaign in campaigns { reports.append(try await survey.report(on: campaign)) }
    await store.learn(reports)
  }
}
