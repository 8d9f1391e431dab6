// Executes the steps of a commit and classifies their errors.

internal import KafkaClient
internal import Logging
internal import MillraceRecords
internal import MillraceTime

struct CommitCalls: Sendable {
  let writer: WorkerWriter
  let reader: any LogReader
  let clock: MillraceClock
  /// Checks once that no other process has this one's name.
  /// - Throws: ``ProducerLoss`` if another process has it; `KafkaError` if the group did not answer.
  let checkName: @Sendable () async throws -> Void

  /// The transactional producer; nil if the writer is not transactional.
  var producer: ReplaceableProducer? { if case .transactional(let producer) = writer { producer } else { nil } }

  /// A batch without records needs no transaction: its only write is the offset commit, which the group fences as well.
  func mode(for lanes: [LaneCommit]) -> CommitProtocol.Mode {
    guard case .transactional = writer else { return .atLeastOnce }
    let isEmpty = lanes.allSatisfy { $0.ledger.isEmpty && $0.writes.allSatisfy(\.records.isEmpty) }
    return isEmpty ? .atLeastOnce : .transactional
  }

  /// Returns the group metadata that fences the next batch, or nil if the writer is not transactional.
  func membership() async throws(KafkaError) -> GroupMetadata? {
    guard case .transactional = writer else { return nil }
    return try await reader.groupMetadata()
  }

  /// Looks up the output topics with a new client, so that its first records do not wait for that.
  func prepareAgain(_ producer: ReplaceableProducer, _ logger: Logger) async {
    do throws(KafkaError) {
      try await producer.prepareAgain(timeout: .seconds(2))
    } catch {
      logger.warning("could not look up the output topics in advance", metadata: ["error": "\(error)"])
    }
  }

  /// - Parameter group: The group metadata from before the lanes sealed their writes. A member that hands over a lane and
  ///   stays gets a newer generation. With the newer one the broker would accept offsets of a lane that another member
  ///   owns by now.
  func perform(
    _ step: CommitProtocol.Step, _ lanes: [LaneCommit], _ group: GroupMetadata?
  ) async throws(KafkaError) {
    #if PLANTED_FAULTS
      var group = group
      if step == .sendOffsets {
        let newer = try await membership()
        if PlantedFault.metadataAfterSealing.isActive(changing: newer != group) { group = newer }
      }
    #endif
    switch (step, writer) {
    case (.write, .transactional(let writer)):
      _ = try await writer.send(contentsOf: records(of: lanes) + lanes.flatMap(\.ledger))
    case (.write, .plain(let writer)):
      let records = records(of: lanes)
      if !records.isEmpty { _ = try await writer.send(contentsOf: records) }
    // A transactional writer gets here only with a batch without records, which has no ledger records either.
    case (.writeLedger, .plain(let writer)):
      let ledger = lanes.flatMap(\.ledger)
      if !ledger.isEmpty { _ = try await writer.send(contentsOf: ledger) }
    case (.commitOffsets, _): try await reader.commit(lanes.flatMap(\.offsets))
    case (.begin, .transactional(let writer)): try await writer.begin()
    case (.sendOffsets, .transactional(let writer)):
      guard let group else {
        throw KafkaError(code: .closed, operation: "send offsets to a transaction", reason: "the worker left its group")
      }
      try await writer.sendOffsets(
        lanes.flatMap(\.offsets), group: group, timeout: WorkerWriter.transactionTimeout)
    case (.commitTransaction, .transactional(let writer)):
      try await writer.commit(timeout: WorkerWriter.transactionTimeout)
    case (.abort, .transactional(let writer)): try await writer.abort(timeout: WorkerWriter.transactionTimeout)
    case (.begin, .plain), (.sendOffsets, .plain), (.commitTransaction, .plain), (.abort, .plain),
      (.writeLedger, .transactional):
      break
    }
  }

  private func records(of lanes: [LaneCommit]) -> [ProducerRecord] {
    lanes.flatMap { $0.writes.flatMap(\.records) }.map { $0.timed(by: clock) }
  }

  func trouble(of error: KafkaError, at step: CommitProtocol.Step) -> CommitProtocol.Trouble {
    if error.isFatal || error.code == .closed { return .fatal }
    switch step {
    case .begin, .sendOffsets, .commitTransaction, .abort:
      switch error.transactionRemedy {
      case .retry: return .retriable
      case .abort: return .abortable
      // The broker refuses offsets of an old generation, and librdkafka reports no remedy for that.
      case .replace: return step == .sendOffsets ? .abortable : .fatal
      }
    // Kafka would refuse the record on every attempt, and later batches would wait behind it for ever.
    case .write, .writeLedger: return error.isRefusal ? .fatal : .abortable
    // During a rebalance the group accepts offsets only after this member has rejoined. Rejoining waits until the lanes
    // are handed over, and the handover waits for this commit, so a retry would deadlock.
    case .commitOffsets: return error.isRetriable && error.code != .rebalanceInProgress ? .retriable : .abortable
    }
  }
}

extension KafkaError {
  /// Whether Kafka refuses the record or the writer permanently, so that a retry is useless.
  var isRefusal: Bool {
    !isRetriable && Self.refusals.contains(code)
  }

  private static let refusals: Set<Code> = [
    .messageTooLarge, .unknownTopicOrPartition, .unknownTopic, .topicAuthorizationFailed, .invalidRecord,
  ]
}
