// Reads the current content of a topic and ends, for commands that list instead of follow.

internal import MillraceTime
internal import KafkaClient
internal import MillraceWorker

/// Reads a topic from its oldest record to the record that was newest when reading began.
struct SnapshotReader: Sendable {
  /// The maximum time without an answer while records remain. In real time, like all of Kafka's limits.
  var patience = Duration.seconds(30)
  var clock = MillraceClock.system
  let configuration: KafkaConfiguration
  let timeout: Duration

  init(_ configuration: KafkaConfiguration, timeout: Duration = .seconds(15)) {
    self.configuration = configuration
    self.timeout = timeout
  }

  /// Passes every record to `each`, one partition after the other. Records are not collected, because a topic may be
  /// larger than memory. Calls `onReady` once, when the cluster has answered.
  /// - Throws: `KafkaError`; ``OperationError`` if the topic does not exist or the cluster stops answering; the error
  ///   of `each`.
  func read(_ topic: String, onReady: () -> Void = {}, each: (ConsumerRecord) async throws -> Void) async throws {
    let access = ClusterAccess(configuration, timeout: timeout)
    let plan = try await access.plan(of: [topic])
    onReady()
    guard !plan.partitions.isEmpty else {
      throw OperationError.missing(topic)
    }
    let ranges = try await access.watermarks(of: plan.partitions).filter { !$0.value.isEmpty }
    guard !ranges.isEmpty else { return }
    var reader = access.readerConfiguration(plan)
    // Retention may remove the last records during the read. Then only the end-of-partition event shows the end.
    reader.properties["enable.partition.eof"] = "true"
    let consumer = try KafkaConsumer(
      reader, subscription: .partitions(ranges.mapValues { .offset($0.lowerBound) }))
    let running = Task { try await consumer.run() }
    do {
      try await withTaskCancellationHandler {
        try await drain(consumer, ranges, each)
      } onCancel: {
        consumer.shutDown()
      }
    } catch {
      consumer.shutDown()
      throw error
    }
    try await running.value
    try Task.checkCancellation()
  }

  private func drain(
    _ consumer: KafkaConsumer, _ ranges: [TopicPartition: Range<Int64>], _ each: (ConsumerRecord) async throws -> Void
  ) async throws {
    for await event in consumer.events {
      switch event {
      case .assigned(let queues):
        for queue in queues.sorted(by: { $0.partition < $1.partition }) {
          guard let range = ranges[queue.partition] else { continue }
          try await drain(queue, upTo: range.upperBound, each)
        }
        consumer.shutDown()
      case .revoked(let revocation): revocation.complete()
      }
    }
  }

  private func drain(
    _ queue: PartitionQueue, upTo end: Int64, _ each: (ConsumerRecord) async throws -> Void
  ) async throws {
    var next: Int64 = 0
    while next < end {
      guard let page = try await page(of: queue) else { return }
      for record in page.records {
        if record.offset >= end { return }
        try await each(record)
        next = record.offset + 1
      }
      // After the last record there may be only transaction markers or offsets that retention has removed.
      if page.end != nil { return }
    }
  }

  /// The next page; nil once the reader is closed.
  private func page(of queue: PartitionQueue) async throws -> PartitionPage? {
    // The outer optional is nil if the cluster is silent, the inner if the reader is closed.
    let answer: PartitionPage?? = try await clock.result(within: patience) {
      try await queue.nextPage(upTo: 100, choosing: nil)
    }
    guard let answer else {
      throw OperationError(
        .failed, "the cluster stopped answering", at: "\(queue.partition)",
        remedy: "check kafka.bootstrapServers and that the brokers are running")
    }
    return answer
  }
}
