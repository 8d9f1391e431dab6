// What a test does to the log that no client could, and what it looks at.

public import Kafka

extension InMemoryLog {
  // MARK: - Processes

  /// This process is heard of no more, and hears nothing: its calls do not return before ``resume()``. Once the session
  /// is over the group gives its partitions away, and what it does when it comes back is fenced.
  public func pause() {
    let process = processID
    host.update { broker, now in broker.pause(process, now: now) }
  }

  /// Lets a paused process go on where it stood.
  public func resume() {
    let process = processID
    host.update { broker, now in broker.resume(process, now: now) }
  }

  /// Ends this process without a word: its readers leave no group, its transactions stay open. Its clients' calls fail
  /// from now on.
  public func crash() {
    let process = processID
    host.update { broker, now in broker.crash(process, now: now) }
  }

  /// Whether ``crash()`` was called.
  public var isCrashed: Bool {
    let process = processID
    return host.update { broker, _ in broker.processes[process]?.isDead ?? false }
  }

  // MARK: - Faults

  /// Makes the next calls of this process fail, one error each.
  ///
  /// - Parameters:
  ///   - operation: Which calls.
  ///   - errors: What they throw, in order.
  ///   - topic: Only calls that concern this topic; nil: all.
  ///   - reach: Whether the call takes effect all the same.
  public func fail(
    _ operation: LogOperation, with errors: [KafkaError], in topic: String? = nil, reach: FaultReach = .refused
  ) {
    let process = processID
    host.update { broker, _ in
      broker.faults += errors.map {
        LogFault(operation: operation, process: process, topic: topic, error: $0, reach: reach)
      }
    }
  }

  /// How long each request takes by the log's clock, whoever makes it.
  public func setLatency(_ latency: Duration) { host.update { broker, _ in broker.latency = latency } }

  // MARK: - Records

  /// Appends a record at once, as some other producer would.
  @discardableResult
  public func append(_ record: ProducerRecord) throws(KafkaError) -> RecordPosition {
    let time = host.time
    return try host.update { broker, _ throws(KafkaError) in
      try broker.append(record, to: try broker.place(record), in: nil, time: time)
    }
  }

  /// What a reader with `read_committed` finds in a topic, by partition and offset.
  public func records(in topic: String) -> [ConsumerRecord] {
    host.update { broker, _ in
      (broker.topics[topic] ?? []).flatMap { $0.read(from: 0, limit: .max).records }
    }
  }

  /// The offset behind the newest record that a reader with `read_committed` finds in a partition; 0 where there is none.
  public func readableEnd(of partition: TopicPartition) -> Int64 {
    host.update { broker, _ in
      guard let partitions = broker.topics[partition.topic], partitions.indices.contains(Int(partition.partition))
      else {
        return 0
      }
      return partitions[Int(partition.partition)].readableEnd
    }
  }

  /// What is stored of a topic, open and aborted transactions included.
  public func storedRecords(in topic: String) -> [ConsumerRecord] {
    host.update { broker, _ in (broker.topics[topic] ?? []).flatMap(\.everything) }
  }

  /// Forgets a partition's records before `offset`, as retention does.
  public func trim(_ partition: TopicPartition, before offset: Int64) throws(KafkaError) {
    try host.update { broker, _ throws(KafkaError) in
      try broker.withPartition(partition, "trim \(partition)") { $0.trim(before: offset) }
    }
  }

  /// Whether a transaction is under way, of whatever process.
  public var hasOpenTransactions: Bool {
    host.update { broker, _ in broker.producers.values.contains { $0.open != nil } }
  }

  // MARK: - Groups

  /// What a group has committed, open transactions left out.
  public func committedOffsets(of group: String) -> [CommittedOffset] {
    host.update { broker, _ in
      (broker.groups[group]?.committed ?? [:]).values.sorted { $0.partition < $1.partition }
    }
  }

  /// Waits until a group has committed everything that a reader with `read_committed` finds in these topics.
  /// - Throws: `CancellationError` when the task is cancelled while it waits.
  public func waitUntilRead(by group: String, _ topics: [String]) async throws {
    let isRead: Void? = await host.answer { broker, _ in
      let committed = broker.groups[group]?.committed ?? [:]
      let isRead = topics.allSatisfy { topic in
        Dictionary(
          grouping: (broker.topics[topic] ?? []).flatMap { $0.read(from: 0, limit: .max).records }, by: \.partition
        ).allSatisfy { partition, records in
          committed[TopicPartition(topic: topic, partition: partition)]?.offset ?? 0 > records.last?.offset ?? -1
        }
      }
      return isRead ? .now(()) : .after(.group(group))
    }
    if isRead == nil { throw CancellationError() }
  }

  /// Each member of a group and what it was given.
  public func assignment(of group: String) -> [String: [TopicPartition]] {
    host.update { broker, _ in (broker.groups[group]?.members ?? [:]).mapValues(\.assignment) }
  }
}
