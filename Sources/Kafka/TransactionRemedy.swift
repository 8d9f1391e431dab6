/// What a failed call of a transaction asks for, in librdkafka's three kinds (`rdkafka.h`, "Transactional producer
/// API").
public enum TransactionRemedy: Sendable, Hashable {
  /// Make the same call again, with the same arguments: what it began goes on in the background.
  case retry
  /// Abort the transaction, then produce the same records in a new one.
  case abort
  /// This producer is over: it was fenced by a newer one, lost its permission, or was misused. Abandon the work
  /// without another call; who took over does it again.
  case replace
}

extension KafkaError {
  /// What to do about this error where a transactional call threw it. As librdkafka advises, an error that is neither
  /// retriable nor abortable counts as fatal.
  public var transactionRemedy: TransactionRemedy {
    if isFatal { return .replace }
    if requiresAbort { return .abort }
    return isRetriable ? .retry : .replace
  }
}
