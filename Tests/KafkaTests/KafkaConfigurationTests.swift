import Testing

@testable import Kafka

@Suite struct KafkaConfigurationTests {
  @Test(arguments: [
    ["acks": "1"], ["request.required.acks": "0"], ["enable.idempotence": "false"], ["partitioner": "random"],
    ["enable.auto.commit": "true"], ["bootstrap.servers": "other:9092"], ["metadata.broker.list": "other:9092"],
    ["group.id": "other"], ["transactional.id": "other"],
    ["transaction.timeout.ms": "1000"],
    ["isolation.level": "read_uncommitted"], ["partition.assignment.strategy": "roundrobin"],
  ])
  func `a property that breaks a promise is refused with its name`(properties: [String: String]) throws {
    let configuration = KafkaConfiguration(bootstrapServers: "localhost:1", properties: properties)
    let name = try #require(properties.keys.first)
    #expect(configuration.objection?.contains(name) == true)
    #expect(throws: KafkaError.self) { try configuration.producerProperties() }
  }

  @Test(arguments: [
    ["acks": "-1"], ["acks": "all"], ["enable.idempotence": "True"], ["security.protocol": "SASL_SSL"],
    ["compression.type": "zstd"],
  ])
  func `other properties and other spellings of the required value pass through`(properties: [String: String]) throws {
    let merged = try KafkaConfiguration(bootstrapServers: "localhost:1", properties: properties).producerProperties()
    for (name, value) in properties { #expect(merged[name] == value) }
  }

  @Test func `TLS and SASL settings reach librdkafka`() throws {
    // librdkafka refuses this when it is built without TLS or SASL, or when a name is wrong.
    _ = try KafkaProducer(
      KafkaConfiguration(
        bootstrapServers: "localhost:1",
        properties: [
          "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "u",
          "sasl.password": "p", "ssl.endpoint.identification.algorithm": "https",
        ]))
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
