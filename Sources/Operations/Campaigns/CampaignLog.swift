// Reads and writes the topic of campaigns for commands.

internal import KafkaClient
internal import MillraceCore
package import MillraceRecords
internal import MillraceWorker
package import RenewalExtensions

/// The campaigns of a deployment.
package struct CampaignLog: Sendable {
  let log: any RecordLog
  let prefix: String

  static let timeout = Duration.seconds(15)

  /// Creates a log of campaigns on a record log.
  /// - Parameter prefix: The prefix of every topic name.
  package init(on log: any RecordLog, prefix: String) {
    self.log = log
    self.prefix = prefix
  }

  /// Reads the whole topic.
  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`.
  package func table() async throws -> CampaignTable {
    let topic = prefix + CampaignRecord.topic
    guard try await log.partitionCounts(of: [topic], timeout: Self.timeout)[topic] != nil else {
      throw OperationError.missing(topic)
    }
    return try await TopicTable(topic, in: log, CampaignTable()) { $0.fold($1) }.current()
  }

  /// Reads the whole topic for a decision that needs every record.
  /// - Throws: ``OperationError`` also if a record cannot be read.
  func wholeTable() async throws -> CampaignTable {
    let table = try await table()
    guard table.unreadable.isEmpty else {
      throw OperationError(
        .failed, "this version cannot read \(table.unreadable.count) records", at: prefix + CampaignRecord.topic,
        remedy: "use the Millrace version that wrote them")
    }
    return table
  }

  /// Finds a campaign by its ID or by a unique prefix of it.
  /// - Throws: ``OperationError`` if no campaign or more than one campaign matches.
  func campaign(_ id: String, in table: CampaignTable) throws(OperationError) -> Campaign {
    try table.campaigns.named(id.lowercased(), "campaign", remedy: "copy an id from millrace campaigns list") { $0.id }
  }

  /// Finds a campaign by its full ID. Commands that cannot be undone do not accept a prefix.
  /// - Throws: ``OperationError`` if no campaign has this ID.
  func campaign(exactly id: String, in table: CampaignTable) throws(OperationError) -> Campaign {
    if let campaign = table[id.lowercased()] { return campaign }
    throw OperationError(
      .usage, "no campaign has this id", at: id, remedy: "copy the full id from millrace campaigns list")
  }

  /// Reads the progress of a campaign.
  /// - Throws: `KafkaError`; ``OperationError`` if the worker's topics do not exist.
  func progress(of id: String) async throws -> CampaignProgress {
    let topics = WorkerTopics(worker: RenewalExtensionsWorker.name, inputs: [], delays: [], prefix: prefix)
    let tally = try await LedgerTally.read(topics, in: log, prefixes: CampaignProgress.prefixes(of: id))
    return CampaignProgress(tally, of: id)
  }

  /// Appends records and returns when all in-sync replicas have them.
  func append(_ records: [CampaignRecord]) async throws {
    try await log.append(records.map { $0.record(prefix: prefix) })
  }
}
