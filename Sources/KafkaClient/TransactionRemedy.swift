/// The action after a failed transactional call, by librdkafka's three kinds of errors (`rdkafka.h`, "Transactional
/// producer API").
public enum TransactionRemedy: Sendable, Hashable {
  /// Repeat the call with the same arguments. Its operation continues in the background.
  case retry
  /// Abort the transaction, then produce the same records in a new one.
  case abort
  /// Abandon the producer without another call: a newer producer fenced it, it lost its permission, or it was misused.
  /// The newer producer repeats the work.
  case replace
}

extension KafkaError {
  /// The action if a transactional call threw this error. As librdkafka advises, an error that is neither retriable nor
  /// abortable counts as fatal.
  public var transactionRemedy: TransactionRemedy {
    if isFatal { return .replace }
    if requiresAbort { return .abort }
    return isRetriable ? .retry : .replace
  }
}
