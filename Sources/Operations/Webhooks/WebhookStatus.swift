// `millrace webhooks list`: each webhook, how far it is behind, and whether it is paused.

package import AppStore
internal import HTTPWorkers
package import KafkaClient
package import MillraceCore
internal import MillraceRecords
package import MillraceWorker

/// The status of one webhook.
package struct WebhookStatus: Sendable, Hashable {
  /// The webhook's name, without `webhook-`.
  package var name: String
  /// The URL, without its query.
  package var url: String
  /// The events that it receives; empty: all.
  package var events: [String]
  /// The number of records that the worker has not read, and of those that wait for a retry.
  package var lag: Int64
  /// The number of dead letters that are neither requeued nor discarded.
  package var deadLetters: Int
  /// Whether an operator has paused it.
  package var isPaused: Bool

  /// Creates a status.
  package init(
    name: String, url: String, events: [String], lag: Int64, deadLetters: Int, isPaused: Bool
  ) {
    (self.name, self.url, self.events) = (name, url, events)
    (self.lag, self.deadLetters, self.isPaused) = (lag, deadLetters, isPaused)
  }

  /// One JSON object.
  package var jsonLine: String {
    let json: JSONObject = [
      "name": .string(name), "url": .string(url), "events": .array(events.map { .string($0) }),
      "lag": .integer(lag), "deadLetters": .integer(Int64(deadLetters)), "paused": .bool(isPaused),
    ]
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// A table for people.
  package static func lines(_ all: [WebhookStatus], lineWidth: Int?, usesColor: Bool) -> [String] {
    TextTable.lines(
      [
        TextColumn("WEBHOOK"), TextColumn("EVENTS"), TextColumn("LAG", alignment: .right),
        TextColumn("DEAD", alignment: .right), TextColumn("STATE"), TextColumn("URL"),
      ],
      rows: all.map { status in
        [
          TextCell(status.name), TextCell(status.events.isEmpty ? "all" : status.events.joined(separator: ",")),
          TextCell("\(status.lag)"), TextCell("\(status.deadLetters)", status.deadLetters > 0 ? .red : .plain),
          TextCell(status.isPaused ? "paused" : "running", status.isPaused ? .yellow : .plain), TextCell(status.url),
        ]
      }, lineWidth: lineWidth, usesColor: usesColor)
  }

  /// Returns the lag of a group: the records of its topics that it has not committed.
  /// - Parameters:
  ///   - committed: The offsets that the group has committed. A partition without one counts from its beginning.
  ///   - ranges: The offsets that each partition holds.
  package static func lag(
    committed: [TopicPartition: Int64], ranges: [TopicPartition: Range<Int64>]
  ) -> Int64 {
    ranges.reduce(0) { sum, entry in
      sum + max(0, entry.value.upperBound - max(committed[entry.key] ?? 0, entry.value.lowerBound))
    }
  }
}

/// The webhooks of a deployment.
package struct WebhookOperations: Sendable {
  private let configuration: MillraceConfiguration
  private let kafka: KafkaConfiguration

  private static let timeout = Duration.seconds(15)

  /// Creates the operations.
  package init(_ configuration: MillraceConfiguration, _ kafka: KafkaConfiguration) {
    self.configuration = configuration
    self.kafka = kafka
  }

  /// The name of a webhook's worker.
  /// - Throws: ``OperationError`` if the configuration has no webhook of this name.
  package static func worker(
    _ name: String, in configuration: MillraceConfiguration
  ) throws(OperationError) -> String {
    let known = configuration.workerNames.filter(WebhookWorker.runs(as:))
    let worker = WorkerEntry.webhookPrefix + name
    guard !known.contains(worker) else { return worker }
    let names = known.map { String($0.dropFirst(WorkerEntry.webhookPrefix.count)) }.joined(separator: ", ")
    throw OperationError(
      .usage, "there is no webhook `\(name)`", at: "webhooks",
      remedy: names.isEmpty ? "add it to the configuration" : "choose from \(names)")
  }

  /// Returns the status of every webhook, sorted by name.
  /// - Throws: ``OperationError`` or ``MillraceError`` if a webhook's topics do not exist; `KafkaError`.
  package func all() async throws -> [WebhookStatus] {
    let prefix = configuration.topics.prefix
    let identities = try WebhookWorker.identities(in: configuration)
    guard !identities.isEmpty else { return [] }
    let log = KafkaLog(kafka, cluster: try await kafka.describeCluster(timeout: Self.timeout))
    let paused = try await pauses(of: identities.map(\.name), log)
    var all: [WebhookStatus] = []
    for identity in identities {
      let settings: WebhookSettings = try configuration.settings(of: identity.name)
      let policy = configuration.policy(of: identity.name, standard: identity.policy)
      let topics = WorkerTopics(WebhookWorker.self, as: identity, configuration, policy)
      let partitions = try await log.presentPartitions(of: topics.sources)
      // Read the committed offsets before the ends, so that no lag is negative.
      let committed = try await KafkaConsumer(kafka, subscription: .group(topics.group, topics: []))
        .committed(partitions, timeout: Self.timeout)
      let ranges = try await log.highWatermarks(of: partitions, timeout: Self.timeout)
      let letters = try await WorkerOperations(worker: identity.name, prefix: prefix, on: log, author: "")
        .deadLetterGroups(isOpenOnly: true)
      all.append(
        WebhookStatus(
          name: String(identity.name.dropFirst(WorkerEntry.webhookPrefix.count)),
          url: settings.url.map { URLMask.text($0) } ?? "", events: settings.events,
          lag: WebhookStatus.lag(
            committed: Dictionary(committed.map { ($0.partition, $0.offset) }) { $1 }, ranges: ranges),
          deadLetters: letters.open, isPaused: paused.contains(identity.name)))
    }
    return all
  }

  /// Pauses a webhook or lets it go on.
  /// - Parameter name: The webhook's name.
  package func control(_ name: String, _ verb: RunVerb, by author: String, at time: Timestamp) async throws {
    let worker = try Self.worker(name, in: configuration)
    let log = KafkaLog(kafka, cluster: try await kafka.describeCluster(timeout: Self.timeout))
    try await Self.control(worker, verb, by: author, at: time, on: log, prefix: configuration.topics.prefix)
  }

  /// Writes the instruction for a worker, and its entry in the audit trail.
  static func control(
    _ worker: String, _ verb: RunVerb, by author: String, at time: Timestamp, on log: any RecordLog, prefix: String
  ) async throws {
    let run = WorkerPause.run(of: worker)
    try await AuditLog(on: log, prefix: prefix).append([
      AuditRecord(
        run: run, verb.action, .started(parts: 0), by: author, source: "millrace", at: time, target: worker)
    ])
    let control = RunControl(run: run, verb, by: author, at: time)
    try await log.append([OperationsRecord.control(control).producerRecord(prefix + "millrace.operations")])
  }

  /// Returns the workers that are paused.
  private func pauses(of workers: [String], _ log: any RecordLog) async throws -> Set<String> {
    let operations = TopicPartition(topic: configuration.topics.prefix + "millrace.operations", partition: 0)
    let verbs = try await log.fold(operations, into: [String: RunVerb?]()) { verbs, page in
      for record in page {
        for worker in workers { WorkerPause.fold(&verbs[worker, default: nil], record, of: worker) }
      }
    }
    return Set(verbs.filter { $0.value == .pause }.keys)
  }
}
