internal import CRDKafka

/// How to reach a cluster. Every property of librdkafka can be passed through, so TLS and SASL work as its
/// `CONFIGURATION.md` says (`security.protocol`, `ssl.ca.location`, `sasl.mechanism`, …).
public struct KafkaConfiguration: Sendable, Hashable {
  /// `host:port` pairs, comma separated.
  public var bootstrapServers: String
  /// Properties handed to librdkafka as they are. They win over our defaults, not over what a promise rests on
  /// (see ``protectedProperties``).
  public var properties: [String: String]
  /// The name that brokers log for this client.
  public var clientID: String
  /// Stands between the client and its brokers in tests of outages.
  package var gate: NetworkGate?

  /// Names a cluster and what librdkafka should know beyond it.
  public init(bootstrapServers: String, properties: [String: String] = [:], clientID: String = "millrace") {
    self.bootstrapServers = bootstrapServers
    self.properties = properties
    self.clientID = clientID
  }

  /// Properties that a promise rests on, with the only value each may have. Passing another is an error, not a
  /// quiet loss of the promise.
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

  /// Properties that say what a client is for. Each client sets its own.
  static let reservedProperties: Set<String> = [
    "bootstrap.servers", "client.id", "group.id", "transaction.timeout.ms", "transactional.id",
  ]

  /// Names that librdkafka treats as the same property.
  private static let aliases = [
    "delivery.timeout.ms": "message.timeout.ms", "metadata.broker.list": "bootstrap.servers",
    "request.required.acks": "acks",
  ]

  /// The first pass-through property that contradicts a promise or this configuration, with a sentence for a person;
  /// nil where all are fine.
  public var objection: String? {
    for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
      let canonical = Self.aliases[name] ?? name
      if Self.reservedProperties.contains(canonical) {
        return "\(name) is set by each client itself; remove it from the properties"
      }
      if let required = Self.protectedProperties[canonical], !Self.means(value, required) {
        return "\(name) must stay \(required): what this process promises rests on it"
      }
    }
    return nil
  }

  private static func means(_ value: String, _ required: String) -> Bool {
    value.lowercased() == required || (required == "all" && value == "-1")
  }

  /// What every client of ours starts from.
  private var common: [String: String] {
    [
      "bootstrap.servers": bootstrapServers,
      "client.id": clientID,
      "log.queue": "true",
      "reconnect.backoff.ms": "50",
      "reconnect.backoff.max.ms": "1000",
      "socket.keepalive.enable": "true",
      "socket.nagle.disable": "true",
      "topic.metadata.refresh.interval.ms": "60000",
    ]
  }

  func producerProperties() throws(KafkaError) -> [String: String] {
    try merged([
      "acks": "all",
      "enable.idempotence": "true",
      "linger.ms": "0",
      // The topics' max.message.bytes is 4 MiB; the batch must have room for the record's own overhead.
      "message.max.bytes": "4194304",
      "partitioner": "murmur2_random",
    ])
  }

  func transactionalProperties(id: String, timeout: Duration) throws(KafkaError) -> [String: String] {
    try producerProperties().merging([
      "transaction.timeout.ms": String(timeout.wholeMilliseconds), "transactional.id": id,
    ]) { $1 }
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
    // How long a partition rests whose queue was full. Left at its second, a partition gives a queue's worth of records
    // each second and no more. Versions before 2.2 do not know it: they look again with their next fetch.
    if rd_kafka_version() >= 0x0202_0000 { role["fetch.queue.backoff.ms"] = "20" }
    return try merged(role)
  }

  func adminProperties() throws(KafkaError) -> [String: String] { try merged([:]) }

  private func merged(_ role: [String: String]) throws(KafkaError) -> [String: String] {
    if let objection {
      throw KafkaError(code: .invalidConfiguration, operation: "configure \(clientID)", reason: objection)
    }
    let canonical = Dictionary(properties.map { (Self.aliases[$0.key] ?? $0.key, $0.value) }) { $1 }
    return common.merging(role) { $1 }.merging(canonical) { $1 }
  }
}
