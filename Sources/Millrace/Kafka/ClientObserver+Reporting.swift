// What librdkafka says, in the process's own log and metrics.

public import Kafka
public import Logging
public import Metrics

/// What every process counts of its Kafka clients, by the label `client`.
package enum KafkaMetrics {
  /// Name and help text of each.
  package static let helpTexts = [
    ("millrace_kafka_queued_messages", "Messages a client holds that no broker has acknowledged."),
    ("millrace_kafka_queued_bytes", "Bytes of them."),
    ("millrace_kafka_brokers_up", "Brokers that a client is connected to."),
    ("millrace_kafka_errors_total", "Errors a client met, by code."),
  ]
}

extension ClientObserver {
  /// Reports errors and warnings to a log, and queue depth and broker state as metrics.
  ///
  /// - Parameter client: the label value that tells this client from others of the process.
  public static func reporting(
    client: String, to logger: Logger, metrics factory: any MetricsFactory = MetricsSystem.factory
  ) -> ClientObserver {
    let label = [("client", client)]
    let queued = Gauge(label: "millrace_kafka_queued_messages", dimensions: label, factory: factory)
    let queuedBytes = Gauge(label: "millrace_kafka_queued_bytes", dimensions: label, factory: factory)
    let brokersUp = Gauge(label: "millrace_kafka_brokers_up", dimensions: label, factory: factory)
    return ClientObserver(
      log: { line in
        logger.log(
          level: Logger.Level(syslog: line.level), "\(line.message)",
          metadata: ["client": "\(client)", "facility": "\(line.facility)"])
      },
      error: { error in
        Counter(
          label: "millrace_kafka_errors_total", dimensions: label + [("code", error.code.description)],
          factory: factory
        ).increment()
        logger.log(
          level: error.isFatal ? .critical : .warning, "\(error)", metadata: ["client": "\(client)"])
      },
      statistics: { statistics in
        queued.record(statistics.queuedMessages)
        queuedBytes.record(statistics.queuedBytes)
        brokersUp.record(statistics.brokers.count { $0.state == "UP" })
      })
  }
}

extension Logger.Level {
  /// From syslog's numbers, 0 emergency to 7 debug.
  init(syslog level: Int) {
    switch level {
    case ...2: self = .critical
    case 3: self = .error
    case 4: self = .warning
    case 5: self = .notice
    case 6: self = .info
    default: self = .debug
    }
  }
}
