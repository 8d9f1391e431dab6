import CRDKafka
import Testing

@testable import KafkaClient

@Suite struct KafkaConfigurationTests {
  @Test(arguments: [
    ["acks": "1"], ["request.required.acks": "0"], ["enable.idempotence": "false"], ["partitioner": "random"],
    ["enable.auto.commit": "true"], ["bootstrap.servers": "other:9092"], ["metadata.broker.list": "other:9092"],
    ["group.id": "other"], ["transactional.id": "other"],
    ["transaction.timeout.ms": "1000"],
    ["isolation.level": "read_uncommitted"], ["partition.assignment.strategy": "roundrobin"],
  ])
  func `the error for a property that would break a guarantee names it`(properties: [String: String]) throws {
    let configuration = KafkaConfiguration(bootstrapServers: "localhost:1", properties: properties)
    let name = try #require(properties.keys.first)
    #expect(configuration.objection?.contains(name) == true)
    #expect(throws: KafkaError.self) { try configuration.producerProperties() }
  }

  @Test(arguments: [
    ["acks": "-1"], ["acks": "all"], ["enable.idempotence": "True"], ["security.protocol": "SASL_SSL"],
    ["compression.type": "zstd"],
  ])
  func `other properties and other spellings of a required value are accepted`(properties: [String: String]) throws {
    let merged = try KafkaConfiguration(bootstrapServers: "localhost:1", properties: properties).producerProperties()
    for (name, value) in properties { #expect(merged[name] == value) }
  }

  @Test func `TLS and SASL settings reach librdkafka`() throws {
    let properties = [
      "security.protocol": "sasl_ssl", "sasl.mechanisms": "SCRAM-SHA-512", "sasl.username": "u", "sasl.password": "p",
      "ssl.endpoint.identification.algorithm": "https", "ssl.key.password": "k", "ssl.cipher.suites": "DEFAULT",
    ]
    let configuration = KafkaConfiguration(bootstrapServers: "localhost:1", properties: properties)
    let clients = [
      try ClientHandle(.producer, properties: configuration.producerProperties(), label: "producer"),
      try ClientHandle(
        .producer, properties: configuration.transactionalProperties(id: "t", timeout: .seconds(5)),
        label: "transactional"),
      try ClientHandle(.consumer, properties: configuration.consumerProperties(group: "g"), label: "consumer"),
      try ClientHandle(.producer, properties: configuration.adminProperties(), label: "admin"),
    ]
    // Read the settings back from the running clients.
    for client in clients {
      for (name, value) in properties { #expect(Self.setting(name, of: client) == value, "\(name)") }
    }
  }

  /// Returns the value of a setting that librdkafka reports for a running client.
  private static func setting(_ name: String, of client: ClientHandle) -> String? {
    var text = [CChar](repeating: 0, count: 256)
    var size = text.count
    guard rd_kafka_conf_get(rd_kafka_conf(client.rk), name, &text, &size) == RD_KAFKA_CONF_OK else { return nil }
    return String(terminated: text)
  }

  @Test(arguments: [("30000", "5000"), ("3000", "3000")])
  func `the socket timeout is limited to the transaction timeout`(given: String, used: String) throws {
    let configuration = KafkaConfiguration(
      bootstrapServers: "localhost:1", properties: ["socket.timeout.ms": given])
    let client = try ClientHandle(
      .producer, properties: configuration.transactionalProperties(id: "t", timeout: .seconds(5)), label: "t")
    #expect(Self.setting("socket.timeout.ms", of: client) == used)
  }

  @Test func `an unknown property is an error that names it`() throws {
    let error = #expect(throws: KafkaError.self) {
      try KafkaProducer(KafkaConfiguration(bootstrapServers: "localhost:1", properties: ["no.such": "1"]))
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.reason.contains("no.such") == true)
  }

  @Test(arguments: [
    (Duration.milliseconds(1500), Int64(1500)), (.seconds(2), 2000), (.microseconds(999), 0),
    (.seconds(Int64.max), Int64(Int32.max)), (.seconds(Int64.min), 0),
  ])
  func `durations become whole milliseconds and saturate`(duration: Duration, milliseconds: Int64) {
    #expect(duration.wholeMilliseconds == milliseconds)
  }
}
