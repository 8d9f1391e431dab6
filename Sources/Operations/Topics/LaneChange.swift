// Moves the workers of a deployment to topics with more lanes: `millrace topics relane`. The topics have another prefix, so
// nothing changes in place, and the old ones stay as they are.

internal import AppStore
package import KafkaClient
package import MillraceCore
internal import MillraceRecords
package import MillraceTime
internal import MillraceWorker

/// Copies what workers remember, and what waits for them, to the topics of another prefix.
///
/// A copy and the position behind it are one transaction of Kafka. If the program ends early, the next one continues there.
package struct LaneChange: Sendable {
  /// The questions that only the administration of a cluster answers.
  package struct Administration: Sendable {
    /// Returns the number of members of a group.
    var memberCount: @Sendable (_ group: String) async throws -> Int
    /// Returns the names of the topics with a prefix.
    var topicNames: @Sendable (_ prefix: String) async throws -> [String]
  }

  private let log: any RecordLog
  private let admin: Administration
  /// The prefix of the topics to copy from.
  private let oldPrefix: String
  private let newPrefix: String
  /// The shared topics whose records are rows: compacted, with keys.
  private let tables: [String]
  private let workers: [(name: String, delays: [Duration])]
  /// The topics, without prefix, that each worker reads besides its own. Absent if only its code names them.
  private let inputs: [String: [String]]
  private let catalog: TopicCatalog
  private let clock: MillraceClock
  private let note: @Sendable (String) -> Void

  private static let timeout = LaneCopy.timeout
  /// Compaction may remove a tombstone of the ledger after a day (`delete.retention.ms`). Half of that leaves time.
  private static let tombstones = Duration.seconds(12 * 3_600)
  /// The metadata of the offsets at which the new workers start.
  private static let mark = "relane"
  /// The metadata of an offset of each new topic from before the first copy. Kafka removes it with the topic.
  private static let begun = "begun"
  /// The metadata of the position behind a ledger, once its worker may start.
  private static let done = "done"

  /// - Parameters:
  ///   - oldPrefix: The prefix of the topics to copy from; may be empty.
  ///   - configuration: The configuration of the new deployment.
  ///   - inputs: The topics, without prefix, that each worker reads besides its own. Absent if only its code names them.
  ///   - note: Receives a line for each completed step.
  /// - Throws: ``OperationError`` if the prefixes are equal; `MillraceError`, `KafkaError`.
  package init(
    from oldPrefix: String, to configuration: MillraceConfiguration, _ kafka: KafkaConfiguration,
    inputs: [String: [String]] = [:], clock: MillraceClock = .system, note: @escaping @Sendable (String) -> Void
  ) async throws {
    let log = KafkaLog(kafka, cluster: try await kafka.describeCluster(timeout: Self.timeout))
    let admin = KafkaAdmin(kafka)
    try self.init(
      from: oldPrefix, to: configuration, on: log, inputs: inputs,
      asking: Administration(
        memberCount: { try await admin.members(ofGroup: $0, timeout: Self.timeout).count },
        topicNames: { try await admin.topicNames(withPrefix: $0, timeout: Self.timeout) }),
      clock: clock, note: note)
  }

  /// Like ``init(from:to:_:clock:note:)``, on any log.
  init(
    from oldPrefix: String, to configuration: MillraceConfiguration, on log: any RecordLog,
    inputs: [String: [String]] = [:], asking admin: Administration, clock: MillraceClock,
    note: @escaping @Sendable (String) -> Void
  ) throws {
    newPrefix = configuration.topics.prefix
    guard oldPrefix != newPrefix else {
      throw OperationError(
        .usage, "the old and the new topics have the prefix `\(oldPrefix)`", at: "--from-prefix",
        remedy: "choose another `topics.prefix` for the topics with more lanes")
    }
    guard log.description.capabilities.contains(.transactions) else {
      throw OperationError(
        .failed, "an embedded cluster has no transactions", at: "kafka.bootstrapServers",
        remedy: "use a real cluster")
    }
    self.log = log
    self.admin = admin
    self.inputs = inputs
    self.oldPrefix = oldPrefix
    catalog = try TopicCatalog.load(configuration)
    tables = try TopicCatalog.load(configuration.topics).topics.filter {
      // Notices between processes are of no use to later ones.
      $0.keyed && $0.name != WorkerTopics.controlTopic && $0.settings["cleanup.policy"]?.contains("compact") == true
    }.map(\.name)
    workers = configuration.workers.keys.sorted().map { name in
      (name, WorkerPolicy().applying(configuration.workers[name] ?? WorkerEntry()).retryDelays)
    }
    self.clock = clock
    self.note = note
  }

  // MARK: - The state

  /// Compares the workers' topics under both prefixes. Changes nothing.
  /// - Throws: ``OperationError`` if a topic is missing; `KafkaError`.
  package func survey() async throws -> LaneChangeSurvey {
    let names = catalog.topics.map(\.name)
    let counts = try await log.partitionCounts(
      of: names.flatMap { [oldPrefix + $0, newPrefix + $0] }, timeout: Self.timeout)
    let missing = names.filter { counts[newPrefix + $0] == nil }
    guard missing.isEmpty else {
      throw OperationError.missing(newPrefix + missing[0])
    }
    let progress = try progressGroup()
    var survey = LaneChangeSurvey()
    survey.erasures = try await erasures(counts).rest(progress, log).count
    for (name, delays) in workers {
      let (old, new) = (topics(of: name, delays, oldPrefix), topics(of: name, delays, newPrefix))
      guard let before = counts[old.ledger], let after = counts[new.ledger] else {
        survey.workers.append(LaneChangeSurvey.Worker(name: name, state: .isNew))
        continue
      }
      guard let division = LaneDivision(from: before, to: after) else {
        throw OperationError(
          .failed, "the worker \(name) has \(before) lanes, and \(after) is not a larger multiple of that",
          at: "topics.lanes", remedy: "choose \(before * 2), \(before * 3) or another multiple, and another prefix")
      }
      survey.workers.append(try await state(of: name, division, old, new, counts, progress))
    }
    guard survey.workers.contains(where: { $0.state != .isNew }) else {
      throw OperationError(
        .failed, "no worker of the configuration has topics with the prefix `\(oldPrefix)`", at: "--from-prefix",
        remedy: "name the prefix of the deployment that runs now")
    }
    return survey
  }

  private func state(
    of name: String, _ division: LaneDivision, _ old: WorkerTopics, _ new: WorkerTopics, _ counts: [String: Int],
    _ progress: any LogReader
  ) async throws -> LaneChangeSurvey.Worker {
    var worker = LaneChangeSurvey.Worker(name: name, state: .blocked, oldLanes: division.old, newLanes: division.new)
    let ledger = TopicPartition(topic: old.ledger, partition: 0)
    let ended = try await progress.committed([ledger], timeout: Self.timeout)
    let started = try await committed(new.group, in: catalog.topics.map { newPrefix + $0.name }, counts)
    worker.newProcesses = try await admin.memberCount(new.group)
    worker.hasStarted = started.contains { $0.metadata != Self.mark }
    worker.oldProcesses = try await admin.memberCount(old.group)
    let retries = try await admin.topicNames("\(oldPrefix)millrace.\(name).retry.")
    worker.unreadDelays = retries.filter { !old.retries.contains($0) }
    // Committed offsets first, so that no count is negative.
    let positions = try await committed(old.group, in: catalog.topics.map { oldPrefix + $0.name }, counts)
    let offsets = Dictionary(positions.map { ($0.partition, $0.offset) }) { $1 }
    let read = Set(positions.map(\.partition.topic)).filter { !old.isOwn($0) }
    let known = read.union((inputs[name] ?? []).map { oldPrefix + $0 }).sorted()
    worker.inputs = known.map { String($0.dropFirst(oldPrefix.utf8.count)) }
    // A partition without an offset counts as a whole: the worker has never run, or was off for so long that Kafka has
    // removed its offsets. If nothing says what the worker reads, it may be every notification.
    let every = known.isEmpty ? catalog.notificationTopics.map { oldPrefix + $0.name } : known
    let sources = (every + old.retries + [old.replay]).flatMap { partitions($0, counts) }
    let ranges = try await log.highWatermarks(of: sources, timeout: Self.timeout)
    for source in sources {
      let range = ranges[source] ?? 0..<0
      let rest = range.upperBound - min(max(offsets[source] ?? 0, range.lowerBound), range.upperBound)
      if old.isOwn(source.topic) { worker.waiting += rest } else { worker.unhandled += rest }
    }
    let own = ([old.ledger, old.deadLetters, old.replay] + old.retries).flatMap { partitions($0, counts) }
    let targets = targets(of: new)
    let copied = try await progress.committed(own, timeout: Self.timeout)
    let begun = try await progress.committed(targets, timeout: Self.timeout)
    worker.isRecreated = !copied.isEmpty && begun.count < targets.count
    let commands = try await operations(of: name).said()
    worker.openCommands = commands.all.values.count(where: \.isOpen)
    if ended.first?.metadata == Self.done {
      worker.isMoved = true
      let parts = try await parts(of: name, division, old, new)
      let rest = try await parts.ledger.rest(progress, log)
      worker.isTooLate = rest.since.map { clock.wallTime - $0 > Self.tombstones } ?? false
      worker.late = rest.count
      for part in parts.waiting + [parts.letters] { worker.late += try await part.rest(progress, log).count }
    }
    if worker.objection == nil { worker.state = worker.isMoved && worker.late == 0 ? .moved : .ready }
    return worker
  }

  // MARK: - The move

  /// Copies everything, and lets the new workers start there.
  /// - Throws: ``OperationError`` if a worker is blocked; `KafkaError`.
  package func carryOut(_ survey: LaneChangeSurvey) async throws {
    if let objection = survey.objection { throw objection }
    try await ReplayWriter.use(for: Self.mark, prefix: newPrefix, on: log, clock: clock) { writer in
      let copier = LaneCopier(
        log: log, writer: writer, progress: try progressGroup(),
        group: try await progressGroup().groupMetadata())
      let erased = try await copier.copy(try await self.erasures())
      if erased > 0 { note("\(HumanText.count(erased, "erasure")) copied") }
      let ready = survey.workers.filter { $0.state == .ready }
      if !ready.isEmpty {
        try await copier.begin(
          ready.flatMap { worker in
            self.targets(of: self.topics(of: worker.name, self.delays(of: worker.name), self.newPrefix))
          }, metadata: Self.begun)
        try await moveTables(copier)
      }
      for worker in ready { try await move(worker, copier) }
    }
  }

  /// The first partition of each new topic that copies for a worker go to.
  private func targets(of new: WorkerTopics) -> [TopicPartition] {
    ([new.ledger, new.deadLetters, new.replay] + new.retries + tables.map { newPrefix + $0 }).map {
      TopicPartition(topic: $0, partition: 0)
    }
  }

  private func delays(of worker: String) -> [Duration] { workers.first { $0.name == worker }?.delays ?? [] }

  private func moveTables(_ copier: LaneCopier) async throws {
    let counts = try await log.partitionCounts(of: tables.map { oldPrefix + $0 }, timeout: Self.timeout)
    for table in tables {
      let target = newPrefix + table
      let copied = try await copier.copy(
        LaneCopy(partitions: partitions(oldPrefix + table, counts)) { [$0.copy(to: target, nil)] })
      if copied > 0 { note("\(table): \(HumanText.count(copied, "row")) copied") }
    }
  }

  private func move(_ worker: LaneChangeSurvey.Worker, _ copier: LaneCopier) async throws {
    guard let division = LaneDivision(from: worker.oldLanes, to: worker.newLanes) else { return }
    let delays = delays(of: worker.name)
    let (old, new) = (topics(of: worker.name, delays, oldPrefix), topics(of: worker.name, delays, newPrefix))
    let parts = try await parts(of: worker.name, division, old, new)
    let entries = try await copier.copy(parts.ledger)
    var waiting = 0
    for part in parts.waiting { waiting += try await copier.copy(part) }
    let letters = try await copier.copy(parts.letters)
    try await checkThatNothingRan(worker.name, old, [parts.ledger, parts.letters] + parts.waiting, copier.progress)
    try await open(worker, new, division, copier)
    try await copier.finish(TopicPartition(topic: old.ledger, partition: 0), metadata: Self.done)
    note(
      "\(worker.name): \(HumanText.count(entries, "entry of the ledger", plural: "entries of the ledger")), "
        + "\(HumanText.count(waiting, "delayed record")) and \(HumanText.count(letters, "dead letter")) copied")
  }

  /// Checks that no process of the old worker ran meanwhile.
  private func checkThatNothingRan(
    _ worker: String, _ old: WorkerTopics, _ parts: [LaneCopy], _ progress: any LogReader
  ) async throws {
    var isLate = try await admin.memberCount(old.group) > 0
    for part in parts where !isLate { isLate = try await part.rest(progress, log).count > 0 }
    guard isLate else { return }
    throw OperationError(
      .failed, "its old processes ran while it was moved", at: worker,
      remedy: "stop them, and run the command again: it copies the rest")
  }

  /// Commits the offsets at which the new worker starts, also if its `start` is `latest`.
  private func open(
    _ worker: LaneChangeSurvey.Worker, _ new: WorkerTopics, _ division: LaneDivision, _ copier: LaneCopier
  ) async throws {
    let sources = (worker.inputs.map { newPrefix + $0 } + new.retries + [new.replay]).flatMap { topic in
      (0..<Int32(clamping: division.new)).map { TopicPartition(topic: topic, partition: $0) }
    }
    let ranges = try await log.highWatermarks(of: sources, timeout: Self.timeout)
    let offsets = sources.map {
      CommittedOffset($0, offset: ranges[$0]?.lowerBound ?? 0, metadata: Self.mark)
    }
    // A transaction may commit offsets of a group that has members, so Kafka does not refuse them.
    try await checkThatNotStarted(worker.name, new)
    try await copier.writer.write([], committing: offsets, of: try await reader(new.group).groupMetadata())
    try await checkThatNotStarted(worker.name, new)
  }

  /// Checks that no process runs with the new topics, or has run with them.
  private func checkThatNotStarted(_ worker: String, _ new: WorkerTopics) async throws {
    let counts = try await log.partitionCounts(of: catalog.topics.map { newPrefix + $0.name }, timeout: Self.timeout)
    let started = try await committed(new.group, in: catalog.topics.map { newPrefix + $0.name }, counts)
    guard try await admin.memberCount(new.group) > 0 || started.contains(where: { $0.metadata != Self.mark }) else {
      return
    }
    throw OperationError(
      .failed, "a process of the worker runs with the new topics, before the move is complete", at: worker,
      remedy: "stop it, and begin again with another prefix")
  }

  // MARK: - What is copied

  /// Returns the copies of a worker's records.
  private func parts(
    of worker: String, _ division: LaneDivision, _ old: WorkerTopics, _ new: WorkerTopics
  ) async throws -> (ledger: LaneCopy, waiting: [LaneCopy], letters: LaneCopy) {
    let lanes = (0..<Int32(clamping: division.old)).map { $0 }
    func partitions(_ topic: String) -> [TopicPartition] {
      lanes.map { TopicPartition(topic: topic, partition: $0) }
    }
    let ledger = LaneCopy(partitions: partitions(old.ledger)) { record in
      try division.lanes(ofLedgerKey: record.key ?? [], value: record.value, in: record.partition)
        .map { record.copy(to: new.ledger, $0) }
    }
    let sources = old.retries + [old.replay]
    let starts = try await committed(
      old.group, in: sources, Dictionary(uniqueKeysWithValues: sources.map { ($0, division.old) }))
    let waiting = zip(sources, new.retries + [new.replay]).map { source, target in
      LaneCopy(partitions: partitions(source), starts: starts) { record in
        [record.copy(to: target, division.lane(of: record.key, in: record.partition))]
      }
    }
    let commands = try await operations(of: worker).said()
    let letters = LaneCopy(partitions: partitions(old.deadLetters)) { record in
      guard commands.status(ofDeadLetter: record.partition, record.offset).isFree else { return [] }
      return [record.copy(to: new.deadLetters, division.lane(of: record.key, in: record.partition))]
    }
    return (ledger, waiting, letters)
  }

  /// The marks of erased customers, for backfill and import. The workers have them in their ledgers, and no worker executes
  /// the copies, which name none and have no key of a customer.
  private func erasures(_ counts: [String: Int]? = nil) async throws -> LaneCopy {
    let name = "millrace.operations"
    let (topic, target) = (oldPrefix + name, newPrefix + name)
    let known: [String: Int] =
      if let counts { counts } else { try await log.partitionCounts(of: [topic], timeout: Self.timeout) }
    return LaneCopy(partitions: partitions(topic, known)) { record in
      guard case .command(var command)? = OperationsRecord(record), command.erasedMark != nil else { return [] }
      (command.worker, command.run, command.action) = (OperationCommand.noWorker, nil, .erase(customer: ""))
      var copy = OperationsRecord.command(command).producerRecord(target)
      copy.timestamp = record.timestamp
      return [copy]
    }
  }

  // MARK: - Names

  private func topics(of worker: String, _ delays: [Duration], _ prefix: String) -> WorkerTopics {
    WorkerTopics(worker: worker, inputs: [], delays: delays, prefix: prefix)
  }

  private func operations(of worker: String) throws -> WorkerOperations {
    try WorkerOperations(worker: worker, prefix: oldPrefix, on: log, author: "", note: note)
  }

  /// The group that stores how far each topic was copied. It has no members.
  private func progressGroup() throws -> any LogReader { try reader("\(newPrefix)millrace.relane") }

  /// A reader of a group's offsets. It is never run, so it never joins the group.
  private func reader(_ group: String) throws -> any LogReader {
    try log.makeReader(group: group, topics: [], options: LogReaderOptions())
  }

  private func partitions(_ topic: String, _ counts: [String: Int]) -> [TopicPartition] {
    (0..<Int32(clamping: counts[topic] ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
  }

  private func committed(
    _ group: String, in topics: [String], _ counts: [String: Int]
  ) async throws -> [CommittedOffset] {
    try await reader(group).committed(topics.flatMap { partitions($0, counts) }, timeout: Self.timeout)
  }
}

extension ConsumerRecord {
  /// The same record in another topic.
  /// - Parameter partition: The partition; nil chooses it by key.
  fileprivate func copy(to topic: String, _ partition: Int32?) -> ProducerRecord {
    ProducerRecord(
      topic: topic, partition: partition, key: key, value: value, headers: headers, timestamp: timestamp)
  }
}
