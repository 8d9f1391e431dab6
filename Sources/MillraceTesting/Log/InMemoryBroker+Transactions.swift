// The state of transactions, as Kafka's transaction coordinator keeps it.

internal import KafkaClient

/// The state of a transactional id.
struct TransactionalProducer: Sendable {
  struct Transaction: Sendable {
    var serial: TransactionSerial
    var deadline: Duration
    var partitions: Set<TopicPartition> = []
    var groups: Set<String> = []
  }

  /// The epoch of the current producer. Calls with an older epoch are rejected.
  var epoch: Int
  var open: Transaction?
}

/// A producer instance.
struct ProducerEpoch: Sendable, Hashable {
  var id: String
  var epoch: Int
}

extension InMemoryBroker {
  /// Registers a new producer with the id, and aborts a transaction that an older one left open.
  mutating func initializeProducer(_ id: String) -> ProducerEpoch {
    end(transactionOf: id, isCommitted: false)
    let epoch = (producers[id]?.epoch ?? -1) + 1
    producers[id] = TransactionalProducer(epoch: epoch)
    return ProducerEpoch(id: id, epoch: epoch)
  }

  func checkEpoch(_ producer: ProducerEpoch, _ operation: String) throws(KafkaError) {
    guard producers[producer.id]?.epoch == producer.epoch else { throw .fenced(operation) }
  }

  /// Returns the producer's transaction, which starts with its first record or offset.
  /// - Parameter deadline: The time at which the transaction is aborted, if it starts now.
  private mutating func transaction(
    of producer: ProducerEpoch, deadline: Duration, _ operation: String
  ) throws(KafkaError) -> TransactionalProducer.Transaction {
    try checkEpoch(producer, operation)
    if let open = producers[producer.id]?.open { return open }
    let transaction = TransactionalProducer.Transaction(serial: nextSerial(), deadline: deadline)
    producers[producer.id]?.open = transaction
    areDeadlinesStale = true
    return transaction
  }

  mutating func append(
    _ record: ProducerRecord, by producer: ProducerEpoch, deadline: Duration, time: Int64
  ) throws(KafkaError) -> RecordPosition {
    let partition = try place(record)
    let transaction = try transaction(of: producer, deadline: deadline, "send to \(record.topic)")
    let position = try append(record, to: partition, in: transaction.serial, time: time)
    producers[producer.id]?.open?.partitions.insert(partition)
    return position
  }

  mutating func addOffsets(
    _ offsets: [CommittedOffset], of membership: Membership, by producer: ProducerEpoch, deadline: Duration
  ) throws(KafkaError) {
    let operation = "send offsets to the transaction of \(producer.id)"
    try checkEpoch(producer, operation)
    if let objection = groups[membership.group]?.objection(
      to: membership.member, generation: membership.generation, operation)
    {
      throw objection.dooming
    }
    let transaction = try transaction(of: producer, deadline: deadline, operation)
    groups[membership.group]?.add(offsets, to: transaction.serial)
    producers[producer.id]?.open?.groups.insert(membership.group)
  }

  mutating func end(_ producer: ProducerEpoch, isCommitted: Bool, _ operation: String) throws(KafkaError) {
    try checkEpoch(producer, operation)
    end(transactionOf: producer.id, isCommitted: isCommitted)
  }

  /// Writes the markers that end the id's open transaction, if there is one.
  mutating func end(transactionOf id: String, isCommitted: Bool) {
    guard let transaction = producers[id]?.open else { return }
    producers[id]?.open = nil
    areDeadlinesStale = true
    for partition in transaction.partitions {
      topics[partition.topic]?[Int(partition.partition)].end(transaction.serial, isCommitted: isCommitted)
      changes.insert(.partition(partition))
    }
    for group in transaction.groups {
      groups[group]?.end(transaction.serial, isCommitted: isCommitted)
      changes.insert(.group(group))
    }
  }
}

/// A member of a group in one generation: the content of ``GroupMetadata`` for an in-memory log.
struct Membership: Sendable, Hashable {
  var group: String
  var generation: Int32
  var member: String

  init(group: String, generation: Int32, member: String) {
    self.group = group
    self.generation = generation
    self.member = member
  }

  init?(_ metadata: GroupMetadata) {
    let parts = String(decoding: metadata.bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard parts.count == 3, let generation = Int32(parts[0]) else { return nil }
    self.init(group: String(parts[2]), generation: generation, member: String(parts[1]))
  }

  var metadata: GroupMetadata { GroupMetadata(bytes: Array("\(generation)\n\(member)\n\(group)".utf8)) }
}
