// Tests the session timeout and the static member name of a group member.

import KafkaClient
import Testing

@testable import MillraceRecords

@Suite struct ReaderConfigurationTests {
  private func properties(
    _ options: LogReaderOptions, clusterID: String = "real", given: [String: String] = [:]
  ) -> [String: String] {
    let log = KafkaLog(
      KafkaConfiguration(bootstrapServers: "localhost:1", properties: given),
      cluster: ClusterDescription(clusterID: clusterID, brokerCount: 1))
    return log.readerConfiguration(options).properties
  }

  @Test func `a static member has a longer session than a dynamic one`() throws {
    let named = properties(LogReaderOptions(instance: "refunds-0"))
    #expect(named["group.instance.id"] == "refunds-0")
    #expect(named["session.timeout.ms"] == "18000" && named["heartbeat.interval.ms"] == "2000")
    let other = properties(LogReaderOptions())
    #expect(other["group.instance.id"] == nil)
    #expect(other["session.timeout.ms"] == "10000" && other["heartbeat.interval.ms"] == "2000")
  }

  @Test(arguments: [nil, "refunds-0"])
  func `properties in the configuration take precedence`(instance: String?) {
    let given = properties(LogReaderOptions(instance: instance), given: ["session.timeout.ms": "45000"])
    #expect(given["session.timeout.ms"] == "45000")
  }

  @Test func `the embedded cluster has no static members`() {
    let embedded = properties(
      LogReaderOptions(instance: "refunds-0"), clusterID: "\(EmbeddedCluster.clusterIDPrefix)1")
    #expect(embedded["group.instance.id"] == nil)
    #expect(embedded["session.timeout.ms"] == "4000")
  }
}
