// The tables behind an actor: readers of topics write to it, pages ask it.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Millrace
internal import Operations
internal import RenewalExtensions

/// What the console knows now.
actor ConsoleStore {
  private var tables: ConsoleTables
  private let clock: MillraceClock
  private let real: MillraceClock
  private let onChange: @Sendable () -> Void
  private var shown: (version: Int, second: Int64, overview: Overview)?

  /// - Parameters:
  ///   - clock: The time that workers live in.
  ///   - real: The time that records are stamped with.
  ///   - onChange: Called when something was read.
  init(
    _ topics: ConsoleTopics, deadLetters: Int, clock: MillraceClock, real: MillraceClock = .system,
    onChange: @escaping @Sendable () -> Void = {}
  ) {
    tables = ConsoleTables(topics, deadLetters: deadLetters)
    self.clock = clock
    self.real = real
    self.onChange = onChange
  }

  func begin(reading whole: Set<TopicPartition>) { change { $0.begin(reading: whole, at: real.wallTime) } }
  func reach(_ partition: TopicPartition) { change { $0.reach(partition) } }
  func report(_ problem: String?, of part: String) { change { $0.report(problem, of: part) } }
  func learn(_ facts: ClusterFacts) { change { $0.learn(facts) } }
  func learn(_ reports: [CampaignReport]) { change { $0.learn(reports) } }

  func take(_ records: [ConsumerRecord]) {
    change { $0.take(records, now: real.wallTime, wallTime: clock.wallTime) }
  }

  private func change(_ work: (inout ConsoleTables) -> Void) {
    work(&tables)
    onChange()
  }

  var facts: ClusterFacts { tables.facts }
  var campaigns: [Campaign] { tables.campaigns.campaigns }
  var isCaughtUp: Bool { tables.isCaughtUp }

  /// The first page. What has not changed in this second is not made again.
  func overview() -> Overview {
    let now = real.wallTime
    let second = now.millisecondsSince1970 / 1_000
    if let shown, shown.version == tables.version, shown.second == second { return shown.overview }
    let overview = tables.overview(now: now, wallTime: clock.wallTime)
    shown = (tables.version, second, overview)
    return overview
  }

  /// A page of dead letters, and what can be chosen from.
  func deadLetters(_ query: DeadLetterQuery, from start: Int, count: Int) -> DeadLetterListing {
    let page = tables.deadLetters.page(query, from: start, count: count)
    return DeadLetterListing(
      query: query, start: start, page: page, workers: tables.topics.workers, reasons: tables.deadLetters.reasons,
      apps: tables.deadLetters.apps, dropped: tables.deadLetters.dropped, isCaughtUp: tables.isCaughtUp,
      now: clock.wallTime)
  }

  func run(_ id: String) -> RunSummary? { tables.runSummaries(at: real.wallTime).first { $0.id == id } }
  func backfill(_ id: String) -> BackfillRun? { tables.backfills[id] }

  func deadLetter(_ key: DeadLetterSummary.Key) -> DeadLetterSummary? { tables.deadLetters[key] }

  /// What was said about a letter, also about one that is not kept.
  func standing(of key: DeadLetterSummary.Key) -> OperationsLog.Standing? { tables.deadLetters.standing(of: key) }
}

/// A list of dead letters as its page shows it.
struct DeadLetterListing: Sendable {
  var query: DeadLetterQuery
  var start: Int
  var page: DeadLetterShelf.Page
  var workers: [String]
  var reasons: [String]
  var apps: [String]
  var dropped: Int
  var isCaughtUp: Bool
  var now: Timestamp
}
