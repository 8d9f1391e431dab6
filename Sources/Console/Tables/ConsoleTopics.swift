// Which topic means what to the console. Pure.

internal import Clocks
internal import Millrace
internal import Operations
internal import RenewalExtensions

/// The topics of a deployment by what the console reads of them.
struct ConsoleTopics: Sendable {
  /// What is read of a topic.
  enum Kind: Sendable, Hashable {
    /// Notifications of a family.
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
  }

  /// By name in Kafka.
  let kinds: [String: Kind]
  /// The workers that the configuration names, sorted.
  let workers: [String]
  /// Put before every topic's name.
  let prefix: String

  init(_ catalog: TopicCatalog, _ configuration: MillraceConfiguration) {
    prefix = configuration.topics.prefix
    var names = Set(configuration.workers.compactMap(\.name))
    names.formUnion(configuration.forward.compactMap { $0.name.map(ForwardSettings.workerName) })
    workers = names.sorted()
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

  /// The names of topics whose kind is wanted, sorted.
  func names(where isWanted: (Kind) -> Bool) -> [String] {
    kinds.filter { isWanted($0.value) }.map(\.key).sorted()
  }

  /// The topics that a worker may read besides its own tiers.
  func inputs(of worker: String) -> [String] {
    names { kind in
      switch kind {
      case .notifications: true
      case .replay(let owner): owner == worker
      default: false
      }
    }
  }

  /// A worker's tiers, the shortest first.
  func tiers(of worker: String) -> [(topic: String, delay: Duration)] {
    kinds.compactMap { topic, kind -> (topic: String, delay: Duration)? in
      if case .retry(worker, let delay) = kind { (topic, delay) } else { nil }
    }.sorted { $0.delay < $1.delay }
  }

  /// The topic as people call it: the family, or what is behind the worker's name.
  func shortName(_ topic: String) -> String {
    switch kinds[topic] {
    case .notifications(let family)?: family
    case .quarantine?: "quarantine"
    case .events(let worker)?: "events of \(worker)"
    case .retry(_, let delay)?: "retry \(DurationText.text(delay))"
    case .replay?: "sent again"
    case .deadLetters?: "dead letters"
    case .operations?, .campaigns?, .backfills?, .audit?, nil: topic
    }
  }
}
