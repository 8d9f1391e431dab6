/// What a client says about itself while it runs. Called on the client's pump task: return quickly.
public struct ClientObserver: Sendable {
  /// A line of librdkafka's log.
  public struct LogLine: Sendable {
    /// Severity as syslog counts: 0 emergency to 7 debug.
    public var level: Int
    /// librdkafka's facility, for instance `FAIL`.
    public var facility: String
    /// The text. librdkafka logs no payloads and no passwords.
    public var message: String
  }

  /// Receives log lines.
  public var log: @Sendable (LogLine) -> Void
  /// Receives errors that belong to no single call: brokers unreachable, authentication refused.
  public var error: @Sendable (KafkaError) -> Void
  /// Receives statistics every `statistics.interval.ms` (off unless that property is set).
  public var statistics: @Sendable (KafkaStatistics) -> Void

  /// An observer; what is left out is ignored.
  public init(
    log: @escaping @Sendable (LogLine) -> Void = { _ in },
    error: @escaping @Sendable (KafkaError) -> Void = { _ in },
    statistics: @escaping @Sendable (KafkaStatistics) -> Void = { _ in }
  ) {
    self.log = log
    self.error = error
    self.statistics = statistics
  }
}
