/// Receives a client's logs, errors and statistics. The closures run on the client's poll loop: return quickly.
public struct ClientObserver: Sendable {
  /// A line of librdkafka's log.
  public struct LogLine: Sendable {
    /// The syslog severity: 0 is emergency, 7 is debug.
    public var level: Int
    /// librdkafka's facility, such as `FAIL`.
    public var facility: String
    /// The text. librdkafka does not log payloads or passwords.
    public var message: String
  }

  /// Receives log lines.
  public var log: @Sendable (LogLine) -> Void
  /// Receives errors that do not belong to a call: unreachable brokers, refused authentication.
  public var error: @Sendable (KafkaError) -> Void
  /// Receives statistics every `statistics.interval.ms` (off unless that property is set).
  public var statistics: @Sendable (KafkaStatistics) -> Void
  /// Receives the error after which a producer's client was replaced: a fatal one, or that it did not reach a topic.
  public var replacement: @Sendable (KafkaError) -> Void
  /// Receives the delays that a quota has caused.
  public var throttling: @Sendable (Throttling) -> Void

  /// Creates an observer. Omitted closures ignore their input.
  public init(
    log: @escaping @Sendable (LogLine) -> Void = { _ in },
    error: @escaping @Sendable (KafkaError) -> Void = { _ in },
    statistics: @escaping @Sendable (KafkaStatistics) -> Void = { _ in },
    replacement: @escaping @Sendable (KafkaError) -> Void = { _ in },
    throttling: @escaping @Sendable (Throttling) -> Void = { _ in }
  ) {
    self.log = log
    self.error = error
    self.statistics = statistics
    self.replacement = replacement
    self.throttling = throttling
  }

  /// Returns this observer with the group's name in refusals by its coordinator.
  ///
  /// - Parameter group: The group that a consumer joins. If nil, refusals are dropped: librdkafka asks for the
  ///   coordinator of the group that it requires, and the answer does not matter.
  func naming(group: String?) -> ClientObserver {
    var observer = self
    observer.error = { [error] problem in
      guard problem.code == .groupAuthorizationFailed else { return error(problem) }
      guard let group else { return }
      var named = problem
      named.operation = "join the group \(group)"
      error(named)
    }
    return observer
  }
}
