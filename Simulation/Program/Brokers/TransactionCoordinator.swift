// The transaction coordinator, with Kafka's transaction protocol 1: requests name a producer by its id and epoch, not by
// a transaction. Markers reach the partitions one after the other.

internal import KafkaClient

final class TransactionCoordinator {
  enum State: Equatable { case empty, ongoing, preparing(isCommit: Bool), complete(isCommit: Bool) }

  /// The state of a transactional id.
  final class Transaction {
    let producerID: Int64
    var epoch = 0
    var state = State.empty
    var timeout: Duration
    var partitions: Set<TopicPartition> = []
    var groups: Set<String> = []
    /// Distinguishes the transactions of the id.
    var number = 0

    init(producerID: Int64, timeout: Duration) { (self.producerID, self.timeout) = (producerID, timeout) }
  }

  private unowned let cluster: Cluster
  private(set) var transactions: [String: Transaction] = [:]

  init(_ cluster: Cluster) { self.cluster = cluster }

  var hasOpenTransaction: Bool {
    transactions.values.contains { transaction in
      if case .preparing = transaction.state { return true }
      return transaction.state == .ongoing
    }
  }

  // MARK: - Requests

  func initialize(_ id: String, timeout: Duration) throws(BrokerError) -> (producerID: Int64, epoch: Int) {
    let transaction = transactions[id] ?? Transaction(producerID: cluster.newProducerID(), timeout: timeout)
    let isNew = transactions[id] == nil
    transactions[id] = transaction
    transaction.timeout = timeout
    switch transaction.state {
    case .ongoing:
      // The new epoch fences the former producer, before its transaction is aborted.
      transaction.epoch += 1
      finish(id, transaction, isCommit: false)
      throw .concurrentTransactions
    case .preparing: throw .concurrentTransactions
    case .empty, .complete:
      if !isNew { transaction.epoch += 1 }
      transaction.state = .empty
      return (transaction.producerID, transaction.epoch)
    }
  }

  func add(
    _ id: String, _ producerID: Int64, epoch: Int, partitions: [TopicPartition] = [], group: String? = nil
  ) throws(BrokerError) {
    let transaction = try checked(id, producerID, epoch)
    if case .preparing = transaction.state { throw .concurrentTransactions }
    if transaction.state != .ongoing {
      transaction.state = .ongoing
      transaction.number += 1
      cluster.trace("transaction", "\(id) epoch \(epoch) begins transaction \(transaction.number)")
      expire(id, transaction)
    }
    transaction.partitions.formUnion(partitions)
    if let group { transaction.groups.insert(group) }
  }

  func end(_ id: String, _ producerID: Int64, epoch: Int, isCommit: Bool) throws(BrokerError) {
    let transaction = try checked(id, producerID, epoch)
    switch transaction.state {
    case .ongoing: finish(id, transaction, isCommit: isCommit)
    case .preparing(let other):
      throw isCommit == other ? .concurrentTransactions : .invalidTransactionState
    case .complete(let other):
      if isCommit != other { throw .invalidTransactionState }
    case .empty: throw .invalidTransactionState
    }
  }

  /// Answers a leader that asks whether a producer's transaction includes a partition (Kafka 3.6 and later).
  func verify(_ id: String, _ batch: ProducerBatch, _ partition: TopicPartition) throws(BrokerError) {
    let transaction = try checked(id, batch.producerID, batch.epoch)
    guard transaction.state == .ongoing, transaction.partitions.contains(partition) else {
      throw .invalidTransactionState
    }
  }

  /// Answers a group coordinator that asks whether a producer's transaction includes a group's offsets (Kafka 3.7 and
  /// later).
  func verify(_ id: String, _ producerID: Int64, epoch: Int, group: String) throws(BrokerError) {
    let transaction = try checked(id, producerID, epoch)
    guard transaction.state == .ongoing, transaction.groups.contains(group) else { throw .invalidTransactionState }
  }

  private func checked(_ id: String, _ producerID: Int64, _ epoch: Int) throws(BrokerError) -> Transaction {
    guard let transaction = transactions[id], transaction.producerID == producerID else {
      throw .invalidProducerIDMapping
    }
    guard transaction.epoch == epoch else { throw .invalidProducerEpoch }
    return transaction
  }

  // MARK: - Ending

  private func finish(_ id: String, _ transaction: Transaction, isCommit: Bool) {
    let (epoch, number) = (transaction.epoch, transaction.number)
    let (partitions, groups) = (transaction.partitions.sorted(), transaction.groups.sorted())
    cluster.trace(
      "transaction",
      "\(id) epoch \(epoch) \(isCommit ? "commits" : "aborts") transaction \(number): \(partitions) \(groups)")
    transaction.state = .preparing(isCommit: isCommit)
    (transaction.partitions, transaction.groups) = ([], [])
    var left = partitions.count + groups.count
    let written = {
      left -= 1
      if left == 0 { transaction.state = .complete(isCommit: isCommit) }
    }
    for partition in partitions {
      cluster.whenAvailable(leaderOf: partition) { [cluster] in
        cluster.partition(partition)?.end(transaction.producerID, epoch: epoch, isCommit: isCommit)
        written()
      }
    }
    for group in groups {
      cluster.whenAvailable(coordinatorOf: group) { [cluster] in
        cluster.group(group).end(transaction.producerID, epoch: epoch, isCommit: isCommit)
        written()
      }
    }
    if left == 0 { transaction.state = .complete(isCommit: isCommit) }
  }

  /// Aborts the transaction if it is still open after its timeout. Brokers look for such transactions every 10 s.
  private func expire(_ id: String, _ transaction: Transaction) {
    let number = transaction.number
    let delay = transaction.timeout + SeedGenerator.duration(.zero ... .seconds(10))
    Simulation.call(in: .world, after: delay) { [cluster] in
      guard transaction.state == .ongoing, transaction.number == number else { return }
      cluster.trace("transaction", "\(id) timed out")
      transaction.epoch += 1
      cluster.transactions.finish(id, transaction, isCommit: false)
    }
  }
}
