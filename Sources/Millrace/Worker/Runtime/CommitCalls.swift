// The calls behind the steps of a commit, and what their errors mean to it.

internal import Kafka

/// What one commit brings into Kafka.
struct CommitContent: Sendable {
  /// Events, parked records, dead letters, tables; in order.
  var records: [ProducerRecord]
  /// What the ledger is to remember of them.
  var ledger: [ProducerRecord]
  var offsets: [CommittedOffset]
  /// The group as it was before the batch was put together. A member that hands a lane over and stays has a newer
  /// generation, and under that one the offsets of a lane that is another's by now would be taken.
  var group: GroupMetadata?
}

/// Carries steps out.
struct CommitCalls: Sendable {
  let writer: WorkerWriter
  let reader: any LogReader

  /// Without records there is nothing that offsets could be torn from: a plain commit, which the group fences as well.
  func mode(for content: CommitContent) -> CommitProtocol.Mode {
    if case .transactional = writer, !(content.records + content.ledger).isEmpty {
      return .transactional
    }
    return .atLeastOnce
  }

  /// What fences the next batch; nil where that batch will be committed plainly if at all.
  func membership() async throws(KafkaError) -> GroupMetadata? {
    guard case .transactional = writer else { return nil }
    return try await reader.groupMetadata()
  }

  func perform(_ step: CommitProtocol.Step, _ content: CommitContent) async throws(KafkaError) {
    switch (step, writer) {
    case (.write, .transactional(let writer)):
      _ = try await writer.send(contentsOf: content.records + content.ledger)
    case (.write, .plain(let writer)):
      if !content.records.isEmpty { _ = try await writer.send(contentsOf: content.records) }
    // Whatever the worker's writer: a batch without records is committed plainly, and then the ledger has none either.
    case (.writeLedger, .plain(let writer)):
      if !content.ledger.isEmpty { _ = try await writer.send(contentsOf: content.ledger) }
    case (.commitOffsets, _): try await reader.commit(content.offsets)
    case (.begin, .transactional(let writer)): try await writer.begin()
    case (.sendOffsets, .transactional(let writer)):
      guard let group = content.group else {
        throw KafkaError(code: .closed, operation: "send offsets to a transaction", reason: "the group was left")
      }
      try await writer.sendOffsets(content.offsets, group: group, timeout: WorkerWriter.transactionTimeout)
    case (.commitTransaction, .transactional(let writer)):
      try await writer.commit(timeout: WorkerWriter.transactionTimeout)
    case (.abort, .transactional(let writer)): try await writer.abort(timeout: WorkerWriter.transactionTimeout)
    case (.begin, .plain), (.sendOffsets, .plain), (.commitTransaction, .plain), (.abort, .plain),
      (.writeLedger, .transactional):
      break
    }
  }

  func trouble(of error: KafkaError, at step: CommitProtocol.Step) -> CommitProtocol.Trouble {
    if error.isFatal || error.code == .closed { return .fatal }
    switch step {
    case .begin, .sendOffsets, .commitTransaction, .abort:
      switch error.transactionRemedy {
      case .retry: return .retriable
      case .abort: return .abortable
      // A generation that has passed refuses offsets, and librdkafka says nothing of what to do about it.
      case .replace: return step == .sendOffsets ? .abortable : .fatal
      }
    // Refused for what it is, it would be refused for ever, and everything behind it would wait.
    case .write, .writeLedger: return error.isRefusal ? .fatal : .abortable
    // The group takes offsets again only when this member has joined anew, and that waits for its lanes to be handed
    // over, which waits for this commit.
    case .commitOffsets: return error.isRetriable && error.code != .rebalanceInProgress ? .retriable : .abortable
    }
  }
}

extension KafkaError {
  /// Whether Kafka refuses the record or the writer, however often it is asked.
  fileprivate var isRefusal: Bool {
    !isRetriable && Self.refusals.contains(code)
  }

  private static let refusals: Set<Code> = [
    .messageTooLarge, .unknownTopicOrPartition, .unknownTopic, .topicAuthorizationFailed, .invalidRecord,
  ]
}
