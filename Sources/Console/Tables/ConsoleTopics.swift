// Classifies topics by the kind of records that the console reads from them. Pure.

internal import MillraceTime
package import MillraceCore
package import MillraceRecords
internal import Operations
internal import RenewalExtensions

/// The topics of a deployment and their kinds.
package struct ConsoleTopics: Sendable {
  enum Kind: Sendable, Hashable {
    case notifications(family: String)
    case quarantine
    case events(worker: String)
    case retry(worker: String, delay: Duration)
    case replay(worker: String)
    case deadLetters(worker: String)
    case operations
    case campaigns
    case backfills
    case audit
    case control
    /// The reports of ingress processes.
    case ingress
  }

  /// The kind of each topic, by its name in Kafka.
  let kinds: [String: Kind]
  /// The workers in the configuration, sorted by name.
  let workers: [String]
  /// The prefix of every topic's name.
  let prefix: String
  /// The group of the processes that write to the database; nil if the configuration has no database.
  let postgres: String?
  /// Whether alerts are posted to a webhook.
  let postsAlerts: Bool

  package init(_ catalog: TopicCatalog, _ configuration: MillraceConfiguration) {
    prefix = configuration.topics.prefix
    postgres = configuration.postgres.url.map { _ in configuration.topics.prefix + PostgresSettings.group }
    postsAlerts = configuration.alerts.webhook.isConfigured
    workers = configuration.workerNames
    var kinds: [String: Kind] = [:]
    for topic in catalog.topics { kinds[topic.topic] = Self.kind(of: topic.name, workers: workers) }
    self.kinds = kinds
  }

  private static func kind(of name: String, workers: [String]) -> Kind? {
    switch name {
    case QuarantineRecord.topic: return .quarantine
    case "millrace.operations": return .operations
    case CampaignRecord.topic: return .campaigns
    case "millrace.backfills": return .backfills
    case AuditRecord.topic: return .audit
    case WorkerTopics.controlTopic: return .control
    case ProcessReport.ingressTopic: return .ingress
    default: break
    }
    if name.hasPrefix(TopicSelection.familyPrefix) {
      return .notifications(family: String(name.dropFirst(TopicSelection.familyPrefix.count)))
    }
    if name.hasPrefix("appstore.events.") { return .events(worker: String(name.dropFirst("appstore.events.".count))) }
    for worker in workers where name.hasPrefix("millrace.\(worker).") {
      let rest = name.dropFirst("millrace.\(worker).".count)
      if rest == "dead-letters" { return .deadLetters(worker: worker) }
      if rest == "replay" { return .replay(worker: worker) }
      if rest.hasPrefix("retry."), let delay = DurationText.parse(String(rest.dropFirst("retry.".count))) {
        return .retry(worker: worker, delay: delay)
      }
    }
    return nil
  }

  /// Returns the consumer group of a worker.
  func group(of worker: String) -> String {
    WorkerTopics(worker: worker, inputs: [], delays: [], prefix: prefix).group
  }

  /// Returns the names of topics whose kind matches, sorted.
  func names(where isWanted: (Kind) -> Bool) -> [String] {
    kinds.filter { isWanted($0.value) }.map(\.key).sorted()
  }

  /// The workers that post events to URLs, sorted by name.
  var webhooks: [String] { workers.filter(Self.isWebhook) }

  private static func isWebhook(_ worker: String) -> Bool { worker.hasPrefix(WorkerEntry.webhookPrefix) }

  /// The workers that may read what a run writes.
  var readers: RunReaders {
    RunReaders(
      workers: workers.filter { !Self.isWebhook($0) },
      notificationTopics: names { if case .notifications = $0 { true } else { false } })
  }

  /// Returns the topics that a worker may read besides its retry topics.
  func inputs(of worker: String) -> [String] {
    names { kind in
      switch kind {
      case .notifications: !Self.isWebhook(worker)
      case .events(let publisher): Self.isWebhook(worker) && !Self.isWebhook(publisher)
      case .replay(let owner): owner == worker
      default: false
      }
    }
  }

  /// Returns a worker's retry topics, the shortest delay first.
  func retries(of worker: String) -> [(topic: String, delay: Duration)] {
    kinds.compactMap { topic, kind -> (topic: String, delay: Duration)? in
      if case .retry(worker, let delay) = kind { (topic, delay) } else { nil }
    }.sorted { $0.delay < $1.delay }
  }

  /// Returns a topic's name for pages: its family, or the part after the worker's name.
  func shortName(_ topic: String) -> String {
    switch kinds[topic] {
    case .notifications(let family)?: family
    case .quarantine?: "quarantine"
    case .events(let worker)?: "events of \(worker)"
    case .retry(_, let delay)?: "retry \(DurationText.text(delay))"
    case .replay?: "replay"
    case .deadLetters?: "dead letters"
    case .operations?, .campaigns?, .backfills?, .audit?, .control?, .ingress?, nil: topic
    }
  }
}
