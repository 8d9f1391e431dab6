// Operations that only a test can perform on the log, and its inspection.

public import KafkaClient

extension InMemoryLog {
  // MARK: - Processes

  /// Pauses this process: it sends and receives nothing, and its calls do not return before ``resume()``.
  ///
  /// After the session timeout the group reassigns its partitions. From then on, the log fences the process's old
  /// clients.
  public func pause() {
    let process = processID
    host.update { broker, now in broker.pause(process, now: now) }
  }

  /// Resumes a paused process.
  public func resume() {
    let process = processID
    host.update { broker, now in broker.resume(process, now: now) }
  }

  /// Ends the readers of this process that are static members with `fencedInstance`, although no other process has joined:
  /// the group prefers their own former members, which it keeps for the session. librdkafka ends so after an outage that
  /// was longer than the session.
  public func fenceMembers() {
    let process = processID
    host.update { broker, now in broker.fence(process, now: now) }
  }

  /// Kills this process: its readers do not leave their groups, and its transactions stay open. Later calls of its
  /// clients fail.
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

  /// Makes the next calls of this process fail, one for each error.
  ///
  /// - Parameters:
  ///   - operation: The kind of call.
  ///   - errors: The errors to throw, in order.
  ///   - topic: The topic that the calls must concern; nil means any.
  ///   - reach: Whether the call takes effect although it fails.
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

  /// Returns the epoch of a transactional id, which each initialization raises; nil if none was initialized.
  package func epoch(ofTransactionalID id: String) -> Int? {
    host.update { broker, _ in broker.producers[id].map { Int($0.epoch) } }
  }

  /// Sets the duration of each request of any process, by the log's clock.
  public func setLatency(_ latency: Duration) { host.update { broker, _ in broker.latency = latency } }

  // MARK: - Records

  /// Appends a record at once, as another producer would.
  @discardableResult
  public func append(_ record: ProducerRecord) throws(KafkaError) -> RecordPosition {
    let time = host.time
    return try host.update { broker, _ throws(KafkaError) in
      try broker.append(record, to: try broker.place(record), in: nil, time: time)
    }
  }

  /// Returns the records that a `read_committed` reader finds in a topic, by partition and offset.
  public func records(in topic: String) -> [ConsumerRecord] {
    host.update { broker, _ in
      (broker.topics[topic] ?? []).flatMap { $0.read(from: 0, limit: .max).records }
    }
  }

  /// Returns the offset after the newest record that a `read_committed` reader finds in a partition; 0 if there is
  /// none.
  public func readableEnd(of partition: TopicPartition) -> Int64 {
    host.update { broker, _ in
      guard let partitions = broker.topics[partition.topic], partitions.indices.contains(Int(partition.partition))
      else {
        return 0
      }
      return partitions[Int(partition.partition)].readableEnd
    }
  }

  /// Returns all stored records of a topic, including uncommitted and aborted ones.
  public func storedRecords(in topic: String) -> [ConsumerRecord] {
    host.update { broker, _ in (broker.topics[topic] ?? []).flatMap(\.everything) }
  }

  /// Deletes a partition's records before `offset`, as retention does.
  public func trim(_ partition: TopicPartition, before offset: Int64) throws(KafkaError) {
    try host.update { broker, _ throws(KafkaError) in
      try broker.withPartition(partition, "trim \(partition)") { $0.trim(before: offset) }
    }
  }

  /// Deletes a topic and creates it again, empty. Kafka also deletes the offsets that groups have committed, but a
  /// member that runs commits its offsets again.
  /// - Parameter forgettingOffsets: Whether the committed offsets are deleted.
  package func recreateTopic(_ name: String, forgettingOffsets: Bool = false) {
    host.update { broker, _ in broker.recreateTopic(name, forgettingOffsets: forgettingOffsets) }
  }

  /// Deletes a partition's records from `offset` on, as the election of a leader does that lacks them.
  package func truncate(_ partition: TopicPartition, to offset: Int64) throws(KafkaError) {
    try host.update { broker, _ throws(KafkaError) in
      try broker.withPartition(partition, "truncate \(partition)") { $0.truncate(to: offset) }
    }
  }

  /// Whether any process has an open transaction.
  public var hasOpenTransactions: Bool {
    host.update { broker, _ in broker.producers.values.contains { $0.open != nil } }
  }

  /// Whether a process with an open transaction is about to send its next request: requests have a latency, but none
  /// waits for it. A test that advances the time now may exceed the timeout of the transaction.
  package var isBetweenRequests: Bool {
    host.update { broker, _ in
      broker.latency > .zero && broker.delayedRequests == 0 && broker.producers.values.contains { $0.open != nil }
    }
  }

  // MARK: - Groups

  /// Returns a group's committed offsets. Offsets in open transactions are not included.
  public func committedOffsets(of group: String) -> [CommittedOffset] {
    host.update { broker, _ in
      (broker.groups[group]?.committed ?? [:]).values.sorted { $0.partition < $1.partition }
    }
  }

  /// Forgets the committed offsets of a group, as brokers do some time after the last member has left.
  package func expireOffsets(of group: String) { host.update { broker, _ in broker.groups[group]?.expireOffsets() } }

  /// Sets committed offsets of a group, as an operator does with `kafka-consumer-groups --reset-offsets`. The metadata
  /// is then empty.
  package func resetOffsets(of group: String, to offsets: [TopicPartition: Int64]) {
    host.update { broker, _ in
      broker.groups[group]?.commit(offsets.map { CommittedOffset($0.key, offset: $0.value) })
    }
  }

  /// Waits until a group has committed everything that a `read_committed` reader finds in these topics.
  /// - Throws: `CancellationError` if the task is cancelled while it waits.
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

  /// Returns the assigned partitions of each member of a group.
  public func assignment(of group: String) -> [String: [TopicPartition]] {
    host.update { broker, _ in (broker.groups[group]?.members ?? [:]).mapValues(\.assignment) }
  }
}
