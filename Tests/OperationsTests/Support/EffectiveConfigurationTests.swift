import KafkaClient
import MillraceCore
import Operations
import Testing

@Suite("The effective configuration of a command")
struct EffectiveConfigurationTests {
  @Test("--config takes precedence over MILLRACE_CONFIG, and neither is required")
  func file() {
    let variable = [EffectiveConfiguration.fileVariable: "b.yaml"]
    #expect(EffectiveConfiguration.file(option: "a.yaml", environment: variable) == "a.yaml")
    #expect(EffectiveConfiguration.file(option: nil, environment: variable) == "b.yaml")
    #expect(EffectiveConfiguration.file(option: nil, environment: [EffectiveConfiguration.fileVariable: ""]) == nil)
    #expect(EffectiveConfiguration.file(option: nil, environment: [:]) == nil)
  }

  @Test("without a file the environment is the configuration")
  func environment() throws {
    let loaded = try EffectiveConfiguration.load(
      option: nil, environment: ["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": "kafka:9092"])
    #expect(try loaded.configuration.kafka.outsideClient().bootstrapServers == "kafka:9092")
  }

  @Test("another process's embedded cluster is unreachable, and the error suggests alternatives")
  func embedded() throws {
    var settings = KafkaSettings()
    settings.bootstrapServers = KafkaSettings.embedded
    let error = try #require(throws: MillraceError.self) { try settings.outsideClient() }
    #expect("\(error)".contains("kafka.bootstrapServers") && "\(error)".contains("embedded-cluster"))
  }
}
