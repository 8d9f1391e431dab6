// The state of the console: updated from records and cluster surveys, and read by pages. A value; time is a parameter.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker
internal import Operations
internal import RenewalExtensions

/// Tables of bounded size.
struct ConsoleTables: Sendable {
  /// The number of replays to keep.
  static let runLimit = 500

  let topics: ConsoleTopics
  var flow = FlowTable()
  var retries = RetryTable()
  var deadlines = DeadlineTable()
  var deadLetters: DeadLetterIndex
  var campaigns = CampaignTable()
  var audit = AuditTrail()
  var replays = RunBook(limit: Self.runLimit)
  var backfills = BackfillTable()
  var pulse = RunHeartbeat()
  var processes = ProcessTable()
  var history = HistoryTable()
  /// Why this console cannot write the history; nil if it can.
  private(set) var historyProblem: String?
  /// The workers that operators have paused.
  var paused: Set<String> = []
  var facts = ClusterFacts()
  /// Campaign progress from the ledgers, by campaign id.
  var reports: [String: CampaignReport] = [:]
  /// When counting of throughput began.
  var countedSince: Timestamp?
  /// Partitions that conditions depend on and whose end is not reached yet.
  private var pending: Set<TopicPartition> = []
  /// Present errors, by the part of the console that reported them.
  private(set) var problems: [String: String] = [:]
  /// Increases with every change.
  private(set) var version = 0

  init(_ topics: ConsoleTopics, deadLetters: Int) {
    self.topics = topics
    self.deadLetters = DeadLetterIndex(capacity: deadLetters)
  }

  /// Whether all records that existed when reading began have been read.
  var isCaughtUp: Bool { countedSince != nil && pending.isEmpty }

  /// Clears the tables because reading starts again.
  mutating func begin(reading whole: Set<TopicPartition>, at time: Timestamp) {
    var fresh = ConsoleTables(topics, deadLetters: deadLetters.capacity)
    (fresh.facts, fresh.reports, fresh.problems, fresh.version) = (facts, reports, problems, version + 1)
    (fresh.pending, fresh.countedSince, fresh.historyProblem) = (whole, time, historyProblem)
    self = fresh
  }

  /// Notes that reading reached the end of a partition.
  mutating func reach(_ partition: TopicPartition) {
    if pending.remove(partition) != nil { version += 1 }
  }

  /// Sets the error of a part of the console, or clears it if `problem` is nil.
  mutating func report(_ problem: String?, of part: String) {
    guard problems[part] != problem else { return }
    problems[part] = problem
    version += 1
  }

  /// Sets the reason why the history cannot be written, or clears it. It is no problem of the figures.
  mutating func reportHistory(_ problem: String?) {
    guard historyProblem != problem else { return }
    historyProblem = problem
    version += 1
  }

  mutating func learn(_ facts: ClusterFacts) {
    self.facts = facts
    report(facts.refused.values.map { "\($0)" }.sorted().first, of: "groups")
    for (worker, committed) in facts.committed {
      for (partition, offset) in committed
      where topics.retries(of: worker).contains(where: { $0.topic == partition.topic }) {
        retries.commit(partition, offset)
      }
    }
    version += 1
  }

  mutating func learn(_ reports: [CampaignReport]) {
    self.reports = Dictionary(reports.map { ($0.campaign.id, $0) }) { $1 }
    version += 1
  }

  /// Applies records of one partition.
  ///
  /// - Parameters:
  ///   - now: Real time, which record timestamps use.
  ///   - wallTime: The workers' time, which may run faster in a rehearsal.
  mutating func apply(_ records: [ConsumerRecord], now: Timestamp, wallTime: Timestamp) {
    for record in records {
      guard let kind = topics.kinds[record.topic] else { continue }
      apply(record, kind, now: now, wallTime: wallTime)
    }
    if !records.isEmpty { version += 1 }
  }

  private mutating func apply(
    _ record: ConsumerRecord, _ kind: ConsoleTopics.Kind, now: Timestamp, wallTime: Timestamp
  ) {
    let written = Timestamp(millisecondsSince1970: record.timestamp ?? now.millisecondsSince1970)
    switch kind {
    case .notifications(let family):
      let envelope = NotificationEnvelope(record.headers)
      count(.received, family, envelope.typeAndSubtype, written, now)
      if family == NotificationFamily.consumptionRequests.rawValue { takeRequest(record, envelope, wallTime) }
    case .quarantine:
      count(.quarantined, "ingress", QuarantineRecord(record)?.reason?.rawValue ?? "other", written, now)
    case .events(let worker):
      let type = record.text("ce_type") ?? ""
      let name = type.hasPrefix("dev.millrace.\(worker).") ? String(type.dropFirst(14 + worker.count)) : "other"
      count(.event, worker, name, written, now)
      if worker == "consumption", let notification = record.text("ce_notificationid") {
        deadlines.end(notification, event: name, now: wallTime)
      }
    case .retry(let worker, let delay):
      count(.delayed, worker, "retry \(DurationText.text(delay))", written, now)
      let history = DeliveryHistory(record)
      let due = history.due ?? written + delay
      let partition = TopicPartition(topic: record.topic, partition: record.partition)
      // The last survey may be from before this reading.
      guard record.offset >= facts.committed[worker]?[partition] ?? 0 else { return }
      // Without a failure, the worker holds it: while a circuit is open, or until Apple accepts calls.
      let reason = history.lastReason ?? (history.behind == nil ? "held" : "behind-another")
      retries.add(partition, offset: record.offset, due: due, reason: reason, of: worker, first: history.first)
    case .replay(let worker):
      count(.replayed, worker, DeliveryHistory(record).replay?.mode.rawValue ?? "", written, now)
    case .deadLetters(let worker):
      guard let letter = DeadLetterEntry(record, of: worker) else { return }
      count(.dead, worker, letter.reason, written, now)
      deadLetters.add(letter)
    case .operations:
      guard let operation = OperationsRecord(record) else {
        report("\(record.topic), offset \(record.offset): not a command, a result or a run's report", of: "operations")
        return
      }
      deadLetters.fold(operation)
      replays.fold(record)
      pulse.fold(operation, writtenAt: written)
      if case .control(let control) = operation {
        for worker in topics.webhooks where control.run == WorkerPause.run(of: worker) {
          if control.verb == .pause { paused.insert(worker) } else { paused.remove(worker) }
        }
      }
    case .campaigns: campaigns.fold(record)
    case .backfills: backfills.fold(record)
    case .audit: audit.fold(AuditRecord(record))
    case .control:
      do {
        if try history.fold(record, of: Set(topics.workers)) { return }
        try processes.fold(record, writtenAt: written, now: now)
      } catch {
        report("\(record.topic), offset \(record.offset): \(error)", of: "control")
      }
    case .ingress:
      do { try processes.fold(ingress: record, writtenAt: written, now: now) } catch {
        report("\(record.topic), offset \(record.offset): \(error)", of: "ingress")
      }
    }
  }

  private mutating func count(
    _ outcome: FlowTable.Outcome, _ place: String, _ label: String, _ written: Timestamp, _ now: Timestamp
  ) {
    flow.count(FlowTable.Key(outcome: outcome, place: place, label: label), at: written, now: now)
  }

  private mutating func takeRequest(_ record: ConsumerRecord, _ envelope: NotificationEnvelope, _ wallTime: Timestamp) {
    guard let id = envelope.id, let signed = envelope.time else { return }
    deadlines.add(
      DeadlineTable.Request(
        notification: id, subject: envelope.subject ?? "", bundleId: envelope.bundleId,
        due: signed + DeadlineTable.window), now: wallTime)
  }
}

extension NotificationEnvelope {
  /// `DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED`.
  var typeAndSubtype: String {
    let name = notificationType ?? "no type"
    return subtype.map { "\(name)/\($0.rawValue)" } ?? name
  }
}
