// Shares rate-limit pauses through `millrace.control`: if Apple answers one process with 429, all processes pause.

internal import AppStore
package import AppStoreServerAPI
package import KafkaClient
package import Logging
internal import MillraceTime
package import MillraceRecords

/// Publishes this process's rate-limit pauses and applies other processes' pauses.
package struct PauseChannel: Sendable {
  private let topic: String
  private let log: any RecordLog
  private let pauses: AsyncStream<BudgetPause>
  private let budget: APIBudget
  private let logger: Logger
  private let passOver: @Sendable (ConsumerRecord, UnreadableRecord) -> Void

  /// Creates the channel of a process.
  ///
  /// - Parameters:
  ///   - topic: The topic's name in Kafka.
  ///   - pauses: The pauses that the budget reports to `onPause`.
  ///   - budget: The budget that the pauses of other processes apply to.
  ///   - passOver: Called with each record that cannot be read.
  package init(
    topic: String, log: any RecordLog, pauses: AsyncStream<BudgetPause>, budget: APIBudget, logger: Logger,
    passOver: @escaping @Sendable (ConsumerRecord, UnreadableRecord) -> Void
  ) {
    self.topic = topic
    self.log = log
    self.pauses = pauses
    self.budget = budget
    self.logger = logger
    self.passOver = passOver
  }

  /// Publishes and follows until cancelled.
  package func run() async throws {
    let writer = try log.makeWriter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      group.addTask { await publish(through: writer) }
      group.addTask { try await follow() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func publish(through writer: any LogWriter) async {
    for await pause in pauses {
      do {
        _ = try await writer.send(
          ProducerRecord(
            topic: topic, partition: 0, key: Array("pause/\(pause.key)".utf8), value: Self.text(of: pause).serialized(),
            headers: [RecordHeader("content-type", "application/json")]))
      } catch {
        // This process keeps the pause. The others learn of it from a 429 of their own.
        logger.warning("could not publish a rate-limit pause", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Follows until cancelled. The process does without the pauses of others while Kafka does not know the topic, and reads
  /// one that was created again from its beginning.
  private func follow() async throws {
    while true {
      do {
        return try await read()
      } catch let error as KafkaError where error.isRetriable || error.isUnknownTopic || error.code == .noOffsetReset {
        logger.warning("cannot read the rate-limit pauses; retrying", metadata: ["error": "\(error)"])
        try await MillraceClock.system.sleep(for: .seconds(5))
      }
    }
  }

  private func read() async throws {
    try await log.scan(TopicPartition(topic: topic, partition: 0), from: .earliest, to: .never, upTo: 100) { page in
      for record in page {
        guard let value = record.value else { continue }
        do throws(UnreadableRecord) {
          if let pause = try Self.pause(from: value) { budget.pause(pause) }
        } catch {
          passOver(record, error)
        }
      }
    }
  }

  static func text(of pause: BudgetPause) -> JSON {
    .object([
      "kind": "pause", "bundleId": .string(pause.key.bundleId), "environment": .string(pause.key.environment.rawValue),
      "endpoint": .string(pause.key.endpoint.rawValue), "until": .integer(pause.until.millisecondsSince1970),
    ])
  }

  /// Returns the pause in a record. Returns nil for other kinds of records and for endpoints that this version does not
  /// call, because newer versions may publish more.
  package static func pause(from value: [UInt8]) throws(UnreadableRecord) -> BudgetPause? {
    let object: JSONObject
    do { object = try JSONObject(parsing: value) } catch { throw UnreadableRecord("not a JSON object: \(error)") }
    guard case .string(let kind)? = object["kind"] else { throw UnreadableRecord("the record has no `kind`") }
    guard kind == "pause" else { return nil }
    guard case .string(let bundleId)? = object["bundleId"], case .string(let environment)? = object["environment"],
      case .string(let name)? = object["endpoint"], case .integer(let until)? = object["until"]
    else { throw UnreadableRecord("the pause has no valid bundleId, environment, endpoint or until") }
    guard let endpoint = APIEndpoint(rawValue: name) else { return nil }
    return BudgetPause(
      BudgetKey(bundleId: bundleId, environment: AppStoreEnvironment(rawValue: environment), endpoint: endpoint),
      until: Timestamp(millisecondsSince1970: until))
  }
}
