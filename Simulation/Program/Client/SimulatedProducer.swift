// An idempotent producer: batches with sequence numbers, sent again until they are acknowledged or too old.

internal import KafkaClient
internal import MillraceRecords
internal import CSimulation

/// The common part of both kinds of producers: places, sequence numbers and Produce requests.
final class ProducerCore: @unchecked Sendable {
  let link: ClientLink
  var producerID: Int64 = -1
  var epoch = 0
  private var sequences: [TopicPartition: Int] = [:]
  private var queues: [TopicPartition: Reply<Void>] = [:]
  private var turn = 0
  private var underWay = 0
  private var isClosing = false
  private var end = Reply<Void>()

  init(_ link: ClientLink) { self.link = link }

  func run() async {
    await withTaskCancellationHandler {
      await end.wait()
    } onCancel: {
      shutDown()
    }
  }

  func shutDown() {
    isClosing = true
    if underWay == 0 { end.resolve(()) }
  }

  func enter(_ operation: String) throws(KafkaError) {
    if isClosing { throw KafkaError(code: .closed, operation: operation, reason: "the client is shut down") }
    underWay += 1
  }

  func exit() {
    underWay -= 1
    if isClosing, underWay == 0 { end.resolve(()) }
  }

  /// Starts with new sequences, after an epoch has begun.
  func restart(_ producerID: Int64, epoch: Int) {
    (self.producerID, self.epoch, sequences) = (producerID, epoch, [:])
  }

  /// Returns the partition of each record.
  func partitions(of records: [ProducerRecord]) throws(KafkaError) -> [TopicPartition] {
    var partitions: [TopicPartition] = []
    for record in records {
      guard let count = link.cluster.partitionCount(of: record.topic) else {
        throw KafkaError(code: .unknownTopic, operation: "send to \(record.topic)", reason: "the topic is unknown")
      }
      if let partition = record.partition {
        guard (0..<Int32(count)).contains(partition) else {
          throw KafkaError(
            code: .invalidPartitions, operation: "send to \(record.topic)", reason: "no partition \(partition)")
        }
        partitions.append(TopicPartition(topic: record.topic, partition: partition))
      } else if let key = record.key {
        partitions.append(TopicPartition(topic: record.topic, partition: Murmur2.partition(of: key, among: count)))
      } else {
        turn += 1
        partitions.append(TopicPartition(topic: record.topic, partition: Int32(turn % count)))
      }
    }
    return partitions
  }

  /// Sends records of one partition as one batch, after earlier batches of the partition.
  func send(
    _ records: [ProducerRecord], to partition: TopicPartition, within limit: Duration, transactionalID: String?
  ) async throws(KafkaError) -> [RecordPosition] {
    let operation = "send to \(partition)"
    let before = queues[partition]
    let done = Reply<Void>()
    queues[partition] = done
    await before?.wait()
    defer { done.resolve(()) }
    let batch = ProducerBatch(
      producerID: producerID, epoch: epoch, sequence: sequences[partition] ?? 0,
      isTransactional: transactionalID != nil)
    sequences[partition] = batch.sequence + records.count
    let time = Int64(simulation_wall_time() / 1_000_000)
    let stored = records.map { record in
      ConsumerRecord(
        topic: partition.topic, partition: partition.partition, offset: 0, timestamp: record.timestamp ?? time,
        key: record.key, value: record.value, headers: record.headers)
    }
    let end: RequestEnd<Int64> = await link.persist(
      .produce, to: { $0.leader(of: partition) }, within: limit, retrying: [.concurrentTransactions]
    ) { cluster, answer in
      answer(
        Result { () throws(BrokerError) in
          try cluster.produce(stored, to: partition, batch, transactionalID: transactionalID)
        })
    }
    switch end {
    case .answered(let first):
      return records.indices.map { index in
        RecordPosition(topic: partition.topic, partition: partition.partition, offset: first + Int64(index))
      }
    case .refused(let error): throw error.error(operation)
    case .unanswered, .unavailable, .cancelled:
      var error = KafkaError(code: .messageTimedOut, operation: operation, reason: "not acknowledged in time")
      error.isRetriable = true
      error.persistence = .possiblyPersisted
      throw error
    }
  }
}

/// A producer without transactions. After an error that it cannot continue from, it gets another producer id, as the
/// client that `KafkaProducer` puts in its place.
final class SimulatedProducer: LogWriter, @unchecked Sendable {
  private let core: ProducerCore
  private static let sendTimeout = Duration.seconds(30)

  init(_ link: ClientLink) { core = ProducerCore(link) }

  func run() async throws(KafkaError) { await core.run() }
  func shutDown() { core.shutDown() }
  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {}

  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    let operation = "send to \(record.topic)"
    try core.enter(operation)
    defer { core.exit() }
    let partition = try core.partitions(of: [record])[0]
    if core.producerID < 0 {
      let end: RequestEnd<Int64> = await core.link.persist(
        .initProducerID, to: { $0.anyNode }, within: Self.sendTimeout
      ) { cluster, answer in answer(.success(cluster.newProducerID())) }
      let id = try end.get(operation)
      if core.producerID < 0 { core.restart(id, epoch: 0) }
    }
    do throws(KafkaError) {
      return try await core.send([record], to: partition, within: Self.sendTimeout, transactionalID: nil)[0]
    } catch {
      if [BrokerError.outOfOrderSequence.code, .messageTimedOut].contains(error.code) { core.restart(-1, epoch: 0) }
      throw error
    }
  }
}
