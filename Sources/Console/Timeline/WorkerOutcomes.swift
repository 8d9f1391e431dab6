// The outcome of each worker for the notifications and events of a timeline.

internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker
internal import Operations

/// The positions and outcomes of workers, while records are read backwards: the ledger's record of a notification is
/// newer than the notification.
struct WorkerOutcomes: Sendable {
  private enum Position: Sendable {
    case committed([TopicPartition: Int64])
    case unknown(KafkaError)
  }

  private var positions: [String: Position] = [:]
  private var ledgers: [String: LedgerOutcomes] = [:]
  /// The records that each worker gave up on. The ledger has no entry of a record that the worker could not decode or
  /// verify, because such a record only claims its id.
  private var gaveUp: [String: Set<RecordPosition>] = [:]
  private static let timeout = Duration.seconds(10)

  /// Reads the offsets that each worker's group has committed. A group that refuses is unknown.
  /// - Throws: `CancellationError`.
  init(of topics: ConsoleTopics, reading partitions: [TopicPartition], in log: any RecordLog) async throws {
    positions = try await withThrowingTaskGroup(of: (String, Position).self) { group in
      for worker in topics.workers {
        let inputs = Set(topics.inputs(of: worker))
        let own = partitions.filter { inputs.contains($0.topic) }
        guard !own.isEmpty else { continue }
        group.addTask {
          do throws(KafkaError) {
            // This reader is never run, so it never joins the group.
            let reader = try log.makeReader(group: topics.group(of: worker), topics: [], options: LogReaderOptions())
            let offsets = try await reader.committed(own, timeout: Self.timeout)
            return (worker, .committed(Dictionary(offsets.map { ($0.partition, $0.offset) }) { $1 }))
          } catch {
            return (worker, .unknown(error))
          }
        }
      }
      var found: [String: Position] = [:]
      for try await (worker, position) in group { found[worker] = position }
      return found
    }
  }

  /// Adds outcomes from older records of a worker's ledger.
  mutating func add(older outcomes: LedgerOutcomes, of worker: String) {
    ledgers[worker, default: LedgerOutcomes()].add(older: outcomes)
  }

  /// Adds the dead letters among older entries.
  mutating func add(deadLetters entries: [TimelineEntry]) {
    for entry in entries {
      guard let letter = entry.letter, let first = entry.first else { continue }
      gaveUp[letter.worker, default: []].insert(first)
    }
  }

  /// Adds a fact for each worker that reads the record's topic.
  func complete(_ entry: inout TimelineEntry) {
    guard let id = entry.id else { return }
    let partition = TopicPartition(topic: entry.position.topic, partition: entry.position.partition)
    for (worker, position) in positions.sorted(by: { $0.key < $1.key }) {
      switch (ledgers[worker]?.outcome(of: id), position) {
      case (.done(let status)?, _): entry.say(worker, status.map { "done, answered \($0)" } ?? "done")
      case (.delayed(let attempts)?, _):
        entry.say(worker, attempts == 0 ? "waits" : "waits after \(HumanText.count(attempts, "attempt"))")
      case (.dead?, _): entry.say(worker, "dead letter")
      case (nil, _) where gaveUp[worker]?.contains(entry.position) ?? false: entry.say(worker, "dead letter")
      case (nil, .unknown(let error)): entry.say(worker, "not known: \(error.reason)")
      case (nil, .committed(let offsets)):
        // A worker has no offset in topics that it does not read.
        guard let next = offsets[partition] else { continue }
        let behind = entry.position.offset + 1 - next
        entry.say(
          worker,
          behind > 0
            ? "not read yet, \(HumanText.count(Int(behind), "offset")) behind" : "read; its ledger has no outcome")
      }
    }
  }
}
