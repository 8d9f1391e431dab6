// Reports librdkafka's events to the process's log and metrics.

package import KafkaClient
package import Logging
package import Metrics

/// The metrics of every process about its Kafka clients, with the label `client`.
package enum KafkaMetrics {
  /// The name and help text of each metric.
  package static let helpTexts = [
    ("millrace_kafka_queued_messages", "Messages of a client that no broker has acknowledged yet."),
    ("millrace_kafka_queued_bytes", "Bytes of a client's messages that no broker has acknowledged yet."),
    ("millrace_kafka_brokers_up", "Brokers that a client is connected to."),
    ("millrace_kafka_errors_total", "Errors that a client reported, by code."),
    (
      "millrace_kafka_producer_replacements_total",
      "Producers replaced after a fatal error, or because they did not reach a topic, by the error's code."
    ),
    (
      "millrace_kafka_throttled_seconds_total",
      "Time for which brokers delayed a client because of a quota, in seconds, by client."
    ),
    (
      "millrace_kafka_token_fetches_total",
      "Fetches of a token for SASL/OAUTHBEARER, by `outcome`: `fetched` or `failed`."
    ),
    ("millrace_kafka_token_expires_seconds", "The end of the last token, in seconds since 1970."),
  ]

  /// Counts a fetch of a token.
  static func tokenFetch(_ result: Result<Int64, any Error>, _ factory: any MetricsFactory) {
    let outcome = if case .success = result { "fetched" } else { "failed" }
    Counter(label: "millrace_kafka_token_fetches_total", dimensions: [("outcome", outcome)], factory: factory)
      .increment()
    guard case .success(let end) = result else { return }
    Gauge(label: "millrace_kafka_token_expires_seconds", factory: factory).record(Double(end) / 1_000)
  }
}

extension ClientObserver {
  /// Returns an observer that logs errors and warnings, and exports queue depth and broker state as metrics.
  ///
  /// - Parameters:
  ///   - client: The label value that distinguishes this client from others of the process.
  ///   - throttles: Remembers delays by quotas, for `/readyz`.
  package static func reporting(
    client: String, to logger: Logger, metrics factory: any MetricsFactory = MetricsSystem.factory,
    throttles: ThrottleStatus = .process
  ) -> ClientObserver {
    let label = [("client", client)]
    let queued = Gauge(label: "millrace_kafka_queued_messages", dimensions: label, factory: factory)
    let queuedBytes = Gauge(label: "millrace_kafka_queued_bytes", dimensions: label, factory: factory)
    let brokersUp = Gauge(label: "millrace_kafka_brokers_up", dimensions: label, factory: factory)
    // From the start, because a rate needs a value before the first delay.
    let throttled = FloatingPointCounter(
      label: "millrace_kafka_throttled_seconds_total", dimensions: label, factory: factory)
    return ClientObserver(
      log: { line in
        // A fatal error ends this client, not the process: the owner of the client replaces it.
        let level = line.facility == "FATAL" ? .error : Logger.Level(syslog: line.level)
        logger.log(
          level: level, "\(line.message)",
          metadata: ["client": "\(client)", "facility": "\(line.facility)"])
      },
      error: { error in
        Counter(
          label: "millrace_kafka_errors_total", dimensions: label + [("code", error.code.description)],
          factory: factory
        ).increment()
        logger.log(
          level: error.isFatal ? .error : .warning, "\(error)", metadata: ["client": "\(client)"])
      },
      statistics: { statistics in
        queued.record(statistics.queuedMessages)
        queuedBytes.record(statistics.queuedBytes)
        brokersUp.record(statistics.brokers.count { $0.state == "UP" })
      },
      replacement: { error in
        Counter(
          label: "millrace_kafka_producer_replacements_total",
          dimensions: label + [("code", error.code.description)], factory: factory
        ).increment()
        logger.error(
          "replaced the Kafka producer after an error that it cannot recover from; no action is needed",
          metadata: ["client": "\(client)", "error": "\(error)"])
      },
      throttling: { throttling in
        throttled.increment(by: throttling.delay / .seconds(1))
        guard throttles.note(client, at: .now) else { return }
        logger.warning(
          "a quota of the Kafka cluster delays this client; raise the quota of its user or client id",
          metadata: ["client": "\(client)", "broker": "\(throttling.broker)", "delay": "\(throttling.delay)"])
      })
  }
}

extension Logger.Level {
  /// Converts a syslog severity: 0 is emergency, 7 is debug.
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
