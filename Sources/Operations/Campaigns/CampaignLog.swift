// The topic of campaigns as commands read and write it.

public import Kafka
public import Millrace
public import RenewalExtensions

/// Campaigns of a deployment.
public struct CampaignLog: Sendable {
  let log: any RecordLog
  let prefix: String

  static let timeout = Duration.seconds(15)

  /// The campaigns on a log.
  /// - Parameter prefix: Put before every topic's name.
  public init(on log: any RecordLog, prefix: String) {
    self.log = log
    self.prefix = prefix
  }

  /// The campaigns of a deployment.
  /// - Throws: `KafkaError` where the cluster did not answer.
  public static func connect(
    _ configuration: MillraceConfiguration, _ kafka: KafkaConfiguration
  ) async throws -> CampaignLog {
    let cluster = try await kafka.describeCluster(timeout: timeout)
    return CampaignLog(on: KafkaLog(kafka, cluster: cluster), prefix: configuration.topics.prefix)
  }

  /// Everything that stands in the topic now.
  /// - Throws: ``OperationError`` where the topic is not there; `KafkaError`.
  public func table() async throws -> CampaignTable {
    let topic = prefix + CampaignRecord.topic
    guard try await log.partitionCounts(of: [topic], timeout: Self.timeout)[topic] != nil else {
      throw OperationError(
        .failed, "no such topic in the cluster", at: topic, remedy: "create it with millrace topics apply")
    }
    return try await TopicTable(topic, in: log, CampaignTable()) { $0.fold($1) }.current()
  }

  /// The same, for what decides by it.
  /// - Throws: ``OperationError`` where a record cannot be read, too.
  func wholeTable() async throws -> CampaignTable {
    let table = try await table()
    guard table.unreadable.isEmpty else {
      throw OperationError(
        .failed, "\(table.unreadable.count) records that this version cannot read", at: prefix + CampaignRecord.topic,
        remedy: "use the version that wrote them")
    }
    return table
  }

  /// A campaign.
  /// - Throws: ``OperationError`` where there is none of that id.
  func campaign(_ id: String, in table: CampaignTable) throws(OperationError) -> Campaign {
    if let campaign = table[id.lowercased()] { return campaign }
    let alike = table.campaigns.filter { $0.id.hasPrefix(id.lowercased()) }
    if !id.isEmpty, let only = alike.first, alike.count == 1 { return only }
    throw OperationError(
      .usage, alike.count > 1 ? "several campaigns begin so" : "no such campaign", at: id,
      remedy: "copy an id from millrace campaigns list")
  }

  /// Writes records and returns once all in-sync replicas have them.
  func append(_ records: [CampaignRecord]) async throws {
    try await log.append(records.map { $0.record(prefix: prefix) })
  }
}
