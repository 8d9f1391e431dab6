// librdkafka's transactional producer: its states, the requests of protocol 1, and the error that each answer becomes.

internal import KafkaClient
internal import MillraceRecords

final class SimulatedTransactionalProducer: TransactionalLogWriter, @unchecked Sendable {
  private enum Phase {
    case uninitialized, ready, open
    /// Only an abort is possible.
    case doomed(KafkaError)
    /// The commit or the abort has begun, and its result is not known. The caller repeats the call.
    case ending(isCommit: Bool)
    case over(KafkaError)
  }

  private let id: String
  private let timeout: Duration
  private let core: ProducerCore
  private var phase = Phase.uninitialized
  /// The partitions and groups of the open transaction that the coordinator knows.
  private var partitions: Set<TopicPartition> = []
  private var hasGroup = false

  init(_ link: ClientLink, id: String, timeout: Duration) {
    (self.id, self.timeout) = (id, timeout)
    core = ProducerCore(link)
  }

  private var link: ClientLink { core.link }
  var hasUnansweredRequest: Bool { link.unansweredTransactional > 0 }

  func run() async throws(KafkaError) {
    await core.run()
    if case .over(let error) = phase { throw error }
  }

  func shutDown() { core.shutDown() }
  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {}

  // MARK: - The life of a transaction

  func initialize(timeout: Duration) async throws(KafkaError) {
    let operation = "initialize transactions of \(id)"
    guard case .uninitialized = phase else { throw misuse(operation) }
    let (id, transactionTimeout) = (id, self.timeout)
    let end: RequestEnd<[Int64]> = await link.persist(
      .initProducerID, to: { $0.coordinator(of: id) }, within: timeout, retrying: [.concurrentTransactions]
    ) { cluster, answer in
      answer(
        Result { () throws(BrokerError) in
          let (producerID, epoch) = try cluster.transactions.initialize(id, timeout: transactionTimeout)
          return [producerID, Int64(epoch)]
        })
    }
    let identity = try end.get(operation)
    core.restart(identity[0], epoch: Int(identity[1]))
    phase = .ready
  }

  func begin() async throws(KafkaError) {
    let operation = "begin a transaction of \(id)"
    switch phase {
    case .ready: phase = .open
    case .over(let error): throw error
    case .doomed(let error): throw error
    case .uninitialized, .open, .ending: throw misuse(operation)
    }
    (partitions, hasGroup) = ([], false)
  }

  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    try await send(contentsOf: [record])[0]
  }

  func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    guard !records.isEmpty else { return [] }
    let operation = "send to \(Set(records.map(\.topic)).sorted().joined(separator: ", "))"
    try core.enter(operation)
    defer { core.exit() }
    try checkOpen(operation)
    let places = try core.partitions(of: records)
    let start = processTime
    let missing = Set(places).subtracting(partitions).sorted()
    if !missing.isEmpty {
      let (id, producerID, epoch) = (id, core.producerID, core.epoch)
      let end: RequestEnd<Bool> = await link.persist(
        .addPartitions, to: { $0.coordinator(of: id) }, within: timeout, retrying: [.concurrentTransactions]
      ) { cluster, answer in
        answer(
          Result { () throws(BrokerError) in
            try cluster.transactions.add(id, producerID, epoch: epoch, partitions: missing)
            return true
          })
      }
      _ = try taken(end, operation)
      partitions.formUnion(missing)
    }
    // Records of one partition stay in order; partitions do not wait for each other.
    let grouped = Dictionary(grouping: records.indices, by: { places[$0] }).sorted { $0.key < $1.key }
    let left = max(.milliseconds(1), timeout - (processTime - start))
    let results = await withTaskGroup(of: (Int, Result<[RecordPosition], KafkaError>).self) { group in
      for (number, (partition, indices)) in grouped.enumerated() {
        group.addTask { [self] in
          do throws(KafkaError) {
            let batch = indices.map { records[$0] }
            return (
              number,
              .success(try await core.send(batch, to: partition, within: left, transactionalID: id))
            )
          } catch {
            return (number, .failure(error))
          }
        }
      }
      return await group.reduce(into: [Int: Result<[RecordPosition], KafkaError>]()) { $0[$1.0] = $1.1 }
    }
    var positions: [Int: RecordPosition] = [:]
    for (number, (_, indices)) in grouped.enumerated() {
      switch results[number] {
      case .success(let found): for (index, position) in zip(indices, found) { positions[index] = position }
      case .failure(let error): throw doom(error)
      case nil: break
      }
    }
    return records.indices.compactMap { positions[$0] }
  }

  func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError) {
    guard !offsets.isEmpty else { return }
    let operation = "send offsets to the transaction of \(id)"
    try checkOpen(operation)
    let offsets = offsets.map(\.admitted)
    let (name, identity) = SimulatedReader.membership(of: group)
    let (id, producerID, epoch) = (id, core.producerID, core.epoch)
    if !hasGroup {
      let end: RequestEnd<Bool> = await link.persist(
        .addOffsets, to: { $0.coordinator(of: id) }, within: timeout, retrying: [.concurrentTransactions]
      ) { cluster, answer in
        answer(
          Result { () throws(BrokerError) in
            try cluster.transactions.add(id, producerID, epoch: epoch, group: name)
            return true
          })
      }
      _ = try taken(end, operation)
      hasGroup = true
    }
    let end: RequestEnd<Bool> = await link.persist(
      .transactionOffsets, to: { $0.coordinator(of: name) }, within: timeout, retrying: [.concurrentTransactions]
    ) { cluster, answer in
      answer(
        Result { () throws(BrokerError) in
          try cluster.transactions.verify(id, producerID, epoch: epoch, group: name)
          try cluster.group(name).add(offsets, by: identity, producerID, epoch: epoch)
          return true
        })
    }
    _ = try taken(end, operation)
  }

  func commit(timeout: Duration) async throws(KafkaError) {
    let operation = "commit the transaction of \(id)"
    switch phase {
    case .open, .ending(isCommit: true): break
    case .doomed(let error), .over(let error): throw error
    case .uninitialized, .ready, .ending: throw misuse(operation)
    }
    try await end(isCommit: true, operation, timeout)
  }

  func abort(timeout: Duration) async throws(KafkaError) {
    let operation = "abort the transaction of \(id)"
    switch phase {
    case .open, .doomed, .ending(isCommit: false): break
    case .over(let error): throw error
    case .uninitialized, .ready, .ending: throw misuse(operation)
    }
    try await end(isCommit: false, operation, timeout)
  }

  private func end(isCommit: Bool, _ operation: String, _ timeout: Duration) async throws(KafkaError) {
    phase = .ending(isCommit: isCommit)
    guard !partitions.isEmpty || hasGroup else {
      phase = .ready
      return
    }
    let (id, producerID, epoch) = (id, core.producerID, core.epoch)
    let end: RequestEnd<Bool> = await link.persist(
      .endTransaction, to: { $0.coordinator(of: id) }, within: timeout, retrying: [.concurrentTransactions]
    ) { cluster, answer in
      answer(
        Result { () throws(BrokerError) in
          try cluster.transactions.end(id, producerID, epoch: epoch, isCommit: isCommit)
          return true
        })
    }
    if case .refused(let error) = end {
      // librdkafka treats every refusal of EndTxn as fatal: the result of the transaction is lost.
      let fatal = fatal(error, operation)
      phase = .over(fatal)
      throw fatal
    }
    _ = try end.get(operation)
    phase = .ready
  }

  // MARK: - Errors

  private func checkOpen(_ operation: String) throws(KafkaError) {
    switch phase {
    case .open: return
    case .doomed(let error), .over(let error): throw error
    case .uninitialized, .ready, .ending: throw misuse(operation)
    }
  }

  private func misuse(_ operation: String) -> KafkaError {
    KafkaError(
      code: KafkaError.Code(rawValue: -172), operation: operation, reason: "the call is not allowed now")
  }

  private func fatal(_ error: BrokerError, _ operation: String) -> KafkaError {
    guard error == .invalidProducerEpoch || error == .invalidProducerIDMapping else {
      return error.error(operation, isFatal: true)
    }
    return KafkaError(
      code: .fenced, operation: operation, reason: "a newer producer has the id \(id)", isFatal: true)
  }

  /// Returns the answer of a request that adds something to the transaction.
  private func taken(_ end: RequestEnd<Bool>, _ operation: String) throws(KafkaError) -> Bool {
    guard case .refused(let error) = end else { return try end.get(operation) }
    switch error {
    case .illegalGeneration, .unknownMember, .fencedInstance, .rebalanceInProgress:
      let error = error.error(operation, requiresAbort: true)
      phase = .doomed(error)
      throw error
    default:
      let error = fatal(error, operation)
      phase = .over(error)
      throw error
    }
  }

  /// Fails the transaction because of a record.
  private func doom(_ error: KafkaError) -> KafkaError {
    var error = error
    switch BrokerError.fatalForRecords[error.code] {
    case .some(let broker):
      error = fatal(broker, error.operation)
      phase = .over(error)
    case nil:
      error.isRetriable = false
      error.requiresAbort = true
      if case .open = phase { phase = .doomed(error) }
    }
    return error
  }
}

extension BrokerError {
  fileprivate static var fatalForRecords: [KafkaError.Code: BrokerError] {
    [
      BrokerError.outOfOrderSequence.code: .outOfOrderSequence,
      BrokerError.invalidProducerEpoch.code: .invalidProducerEpoch,
      BrokerError.invalidProducerIDMapping.code: .invalidProducerIDMapping,
    ]
  }
}
