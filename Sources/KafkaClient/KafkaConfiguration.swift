internal import CRDKafka

/// The address of a cluster and the properties of its clients. All librdkafka properties can be set, so TLS and SASL
/// work as in its `CONFIGURATION.md` (`security.protocol`, `ssl.ca.location`, `sasl.mechanism`, …).
public struct KafkaConfiguration: Sendable, Hashable {
  /// The brokers' `host:port` pairs, comma-separated.
  public var bootstrapServers: String
  /// Properties passed to librdkafka unchanged. They override defaults, but not ``protectedProperties``.
  public var properties: [String: String]
  /// The name that brokers log for this client.
  public var clientID: String
  /// Provides tokens for SASL/OAUTHBEARER; nil if the clients do not use it, or librdkafka gets its tokens itself.
  public var tokens: KafkaTokenSource?
  /// Blocks the network between the client and its brokers, in tests of outages.
  package var gate: NetworkFaultInjector?
  /// Receives the problems of a cluster that does not answer within seconds; see ``KafkaAdmin``.
  package var reporter: ConnectionReporter?

  /// Creates a configuration.
  public init(bootstrapServers: String, properties: [String: String] = [:], clientID: String = "millrace") {
    self.bootstrapServers = bootstrapServers
    self.properties = properties
    self.clientID = clientID
  }

  /// Properties on which Millrace's guarantees depend, with the only value that each may have. Another value is an
  /// error.
  public static let protectedProperties: [String: String] = [
    "acks": "all",
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.idempotence": "true",
    "isolation.level": "read_committed",
    "log.queue": "true",
    "partition.assignment.strategy": "range",
    "partitioner": "murmur2_random",
  ]

  /// Properties that each client sets itself.
  static let reservedProperties: Set<String> = [
    "bootstrap.servers", "client.id", "group.id", "transaction.timeout.ms", "transactional.id",
  ]

  /// Names that librdkafka treats as the same property.
  private static let aliases = [
    "delivery.timeout.ms": "message.timeout.ms", "metadata.broker.list": "bootstrap.servers",
    "request.required.acks": "acks", "sasl.mechanism": "sasl.mechanisms",
  ]

  /// A message about the first property that contradicts a guarantee or this configuration; nil if there is none.
  public var objection: String? {
    for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
      let canonical = Self.aliases[name] ?? name
      if Self.reservedProperties.contains(canonical) {
        return "\(name) is set by each client itself; remove it from the properties"
      }
      if let required = Self.protectedProperties[canonical], !Self.means(value, required) {
        return "\(name) must be \(required): Millrace's guarantees depend on it"
      }
      if tokens != nil, canonical == "sasl.mechanisms", value.uppercased() != "OAUTHBEARER" {
        return "\(name) must be OAUTHBEARER: the clients have tokens"
      }
    }
    return nil
  }

  private static func means(_ value: String, _ required: String) -> Bool {
    value.lowercased() == required || (required == "all" && value == "-1")
  }

  /// The defaults of every client.
  private var common: [String: String] {
    var properties = [
      "bootstrap.servers": bootstrapServers,
      "client.id": clientID,
      "log.queue": "true",
      "reconnect.backoff.ms": "50",
      "reconnect.backoff.max.ms": "1000",
      "socket.keepalive.enable": "true",
      "socket.nagle.disable": "true",
      "topic.metadata.refresh.interval.ms": "60000",
    ]
    if tokens != nil { properties["sasl.mechanisms"] = "OAUTHBEARER" }
    return properties
  }

  func producerProperties() throws(KafkaError) -> [String: String] {
    try merged([
      "acks": "all",
      "enable.idempotence": "true",
      "linger.ms": "0",
      // The topics' max.message.bytes is 4 MiB; the batch must have room for the record's overhead.
      "message.max.bytes": "4194304",
      "partitioner": "murmur2_random",
    ])
  }

  /// For producers without transactions.
  func plainProducerProperties() throws(KafkaError) -> [String: String] {
    // A request to a hanging broker blocks its partition until the request times out, by default after a minute. A
    // hanging broker loses its partitions after 9 s (`broker.session.timeout.ms`), so the limit must be shorter.
    try producerProperties().merging(["socket.timeout.ms": "5000"]) { given, _ in given }
  }

  func transactionalProperties(id: String, timeout: Duration) throws(KafkaError) -> [String: String] {
    var properties = try producerProperties().merging([
      "transaction.timeout.ms": String(timeout.wholeMilliseconds), "transactional.id": id,
    ]) { $1 }
    // librdkafka refuses a limit longer than the transaction's, so a longer value for all clients is reduced.
    if let given = properties["socket.timeout.ms"].flatMap({ Int64($0) }), given > timeout.wholeMilliseconds {
      properties["socket.timeout.ms"] = String(timeout.wholeMilliseconds)
    }
    return properties
  }

  func consumerProperties(group: String) throws(KafkaError) -> [String: String] {
    var role = [
      "auto.offset.reset": "error",
      "enable.auto.commit": "false",
      "enable.auto.offset.store": "false",
      "enable.partition.eof": "false",
      "group.id": group,
      "isolation.level": "read_committed",
      "partition.assignment.strategy": "range",
      "queued.max.messages.kbytes": "2048",
    ]
    // The default of a second limits a partition to one queue of records per second.
    if Self.canShortenPauses { role["fetch.queue.backoff.ms"] = "20" }
    return try merged(role)
  }

  /// Whether librdkafka can shorten the pause after a partition's queue was full. Versions before 2.2 do not have the
  /// property, and pause for up to a second.
  package static var canShortenPauses: Bool { rd_kafka_version() >= 0x0202_0000 }

  func adminProperties() throws(KafkaError) -> [String: String] { try merged([:]) }

  private func merged(_ role: [String: String]) throws(KafkaError) -> [String: String] {
    if let objection {
      throw KafkaError(code: .invalidConfiguration, operation: "configure \(clientID)", reason: objection)
    }
    let canonical = Dictionary(properties.map { (Self.aliases[$0.key] ?? $0.key, $0.value) }) { $1 }
    return common.merging(role) { $1 }.merging(canonical) { $1 }
  }
}
