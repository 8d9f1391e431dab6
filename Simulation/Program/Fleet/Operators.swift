// The operators of a fleet: they replay records, retry dead letters and erase customers, by records of
// `millrace.operations` as the commands of `millrace` write them.

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

@testable internal import PlantedWorker

final class Operators: @unchecked Sendable {
  /// The reason of the dead letters that the handler makes until it is mended.
  static let refusal = "refused"

  /// Whether the handler makes no dead letters. Operators retry those that there are.
  var isMended: Bool

  private let plan: Plan
  private let topics: WorkerTopics
  private let cluster: Cluster
  private let journal: Journal
  private let secret: ErasureKey
  private var count = 0
  /// The records whose handlers have to run again, by command.
  private var reapplied: [String: [ConsumerRecord]] = [:]
  /// The positions of the dead letters that have a command.
  private var retried: Set<String> = []

  init(_ plan: Plan, _ topics: WorkerTopics, _ cluster: Cluster, _ journal: Journal) throws {
    (self.plan, self.topics, self.cluster, self.journal) = (plan, topics, cluster, journal)
    secret = try ErasureKey(secret: [UInt8](repeating: 7, count: 32))
    isMended = !plan.hasDeadLetters
  }

  /// The rules by which the worker erases customers.
  var erasure: ErasureRules {
    var rules = ErasureRules()
    rules.key = secret
    return rules
  }

  // MARK: - Commands

  /// Replays a part of each partition of a topic.
  /// - Parameters:
  ///   - from: The beginning, in per cent of the offsets that the group has committed. What it has not read would come
  ///     before its turn.
  ///   - to: The end, likewise.
  ///   - done: The notifications whose handlers have to run again; nil if no handler does.
  func replay(_ topic: String, from: Int, to: Int, reapplying done: Set<String>?) {
    let run = newID("replay")
    for (log, offsets) in read(topic) {
      var part = ReplayPart(
        topic: topic, from: offsets.lowerBound + offsets.count(from), to: offsets.lowerBound + offsets.count(to))
      guard part.from < part.to else { continue }
      part.last = log.committed.last { $0.offset < part.to }.map { RecordFingerprint($0) }
      part.isReapply = done != nil
      let id = "\(run)/\(log.partition.partition)"
      if let done {
        reapplied[id] = log.committed.filter { record in
          (part.from..<part.to).contains(record.offset) && done.contains(Fleet.header("ce_id", of: record))
        }
      }
      give(id, run: run, item: id, lane: log.partition.partition, .replay(part))
    }
  }

  /// Deletes the first records of each partition of a topic, as retention does.
  /// - Parameter share: In per cent of the offsets that the group has committed.
  func retain(_ topic: String, deleted share: Int) {
    for (log, offsets) in read(topic) {
      cluster.trace("fault", "\(log.partition) loses its records before \(offsets.lowerBound + offsets.count(share))")
      log.trim(before: offsets.lowerBound + offsets.count(share))
    }
  }

  /// The offsets of each partition of a topic that the group has committed.
  private func read(_ topic: String) -> [(PartitionLog, Range<Int64>)] {
    let committed = cluster.group(topics.group).committed
    return (cluster.topics[topic]?.partitions ?? []).map { log in
      (log, log.start..<max(log.start, min(committed[log.partition]?.offset ?? 0, log.lastStableOffset)))
    }
  }

  /// Erases a customer.
  func erase(_ key: String) {
    let (id, bytes) = (newID("erase"), Array(key.utf8))
    let lane = Murmur2.partition(of: bytes, among: cluster.partitionCount(of: topics.ledger) ?? 1)
    do {
      let item = OperationCommand.erasure(of: secret.mark(of: bytes), command: id)
      give(id, item: item, lane: lane, .erase(customer: try secret.seal(bytes)))
    } catch {
      journal.problem("the key \(key) cannot be encrypted: \(error)")
    }
  }

  /// Retries the dead letters that have no command yet.
  func retryDeadLetters() {
    guard plan.hasDeadLetters, isMended else { return }
    for letter in cluster.records(in: topics.deadLetters) {
      let item = OperationCommand.deadLetter(lane: letter.partition, offset: letter.offset)
      guard retried.insert(item).inserted else { continue }
      give(newID("retry"), item: item, lane: letter.partition, .requeue)
    }
  }

  private func newID(_ name: String) -> String {
    count += 1
    return "\(name)-\(count)"
  }

  private func give(
    _ id: String, run: String? = nil, item: String, lane: Int32, _ action: OperationCommand.Action
  ) {
    let command = OperationCommand(
      id: id, run: run, item: item, worker: topics.worker, lane: lane, action: action, why: "the simulation", by: "ops",
      at: MillraceClock.ofSimulation.wallTime)
    cluster.trace("operator", "\(id) for \(item)")
    _ = PartitionWriter(cluster).append(OperationsRecord.command(command).producerRecord(topics.operations))
  }

  // MARK: - What became of them

  /// The commands and their results, according to the committed records.
  struct Work {
    fileprivate var statuses: [String: OperationsLog.Status] = [:]
    /// When the customers were erased the last time, by key.
    fileprivate(set) var erasures: [String: Timestamp] = [:]
    /// The notifications and timers of dead letters that were discarded.
    fileprivate(set) var discarded: Set<String> = []
    /// The notifications and timers of dead letters that were retried.
    fileprivate(set) var retried: Set<String> = []
    /// The records of finished notifications that a command has replayed with `--reapply`, with its run.
    fileprivate(set) var reapplied: [(run: String, record: ConsumerRecord)] = []

    /// Whether a command runs handlers again.
    var isReapplied: Bool {
      statuses.values.contains { if case .replay(let part) = $0.command.action { part.isReapply } else { false } }
    }

    /// Whether a command has retried or discarded a dead letter.
    func hasSettled(_ letter: ConsumerRecord) -> Bool {
      statuses[OperationCommand.deadLetter(lane: letter.partition, offset: letter.offset)]?.outcome == .done
    }

    /// The commands that are not carried out.
    var open: [String] { statuses.values.filter(\.isOpen).map(\.command.id) }

    /// The commands that cannot be carried out for a reason that no fault explains.
    var failures: [String] {
      statuses.values.compactMap { status in
        guard let why = status.failure else { return nil }
        switch status.command.action {
        // The topic was created again; the dead letter's timer was set again.
        case .replay, .requeue: return nil
        case .erase, .discard: return "\(status.command.id): \(why)"
        }
      }
    }
  }

  var work: Work {
    var (work, log) = (Work(), OperationsLog(worker: topics.worker))
    for record in cluster.records(in: topics.operations) {
      if let record = OperationsRecord(record) { _ = log.fold(record) }
    }
    work.statuses = log.all
    for (item, records) in reapplied.sorted(by: { $0.key < $1.key }) {
      guard let status = log.all[item], status.outcome == .done else { continue }
      work.reapplied += records.map { (status.command.replayID, $0) }
    }
    for status in log.all.values {
      guard case .erase(let customer) = status.command.action, let key = secret.open(customer) else { continue }
      let name = String(decoding: key, as: UTF8.self)
      work.erasures[name] = max(work.erasures[name] ?? status.command.at, status.command.at)
    }
    for letter in cluster.records(in: topics.deadLetters) {
      let item = OperationCommand.deadLetter(lane: letter.partition, offset: letter.offset)
      guard let status = log.all[item] else { continue }
      let name = NamedTimer(letter)?.name ?? Fleet.header("ce_id", of: letter)
      if status.command.action == .discard { work.discarded.insert(name) } else { work.retried.insert(name) }
    }
    return work
  }

  /// The commands that are not carried out.
  var open: [String] { work.open.sorted() }
}

extension Range<Int64> {
  /// A share of the offsets, in per cent.
  fileprivate func count(_ share: Int) -> Int64 { Int64(count) * Int64(share) / 100 }
}
