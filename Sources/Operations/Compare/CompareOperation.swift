// `millrace compare`: reads the topics of notifications as far as they go now, and what another receiver wrote down.

internal import AppStore
public import Kafka
public import Millrace

/// Compares another receiver with the topics.
public struct CompareOperation: Sendable {
  /// What of the topics is compared.
  public struct Window: Sendable, Hashable {
    /// Written at or after this time, milliseconds since 1970.
    public var since: Int64?
    /// Written before this time, milliseconds since 1970.
    public var until: Int64?

    /// A window; nil at an end: no bound.
    public init(since: Int64? = nil, until: Int64? = nil) {
      self.since = since
      self.until = until
    }

    func contains(_ time: Int64?) -> Bool {
      guard let time else { return since == nil && until == nil }
      return time >= since ?? .min && time < until ?? .max
    }
  }

  private let configuration: KafkaConfiguration
  private let topics: [String]
  private let receiver: ForwardSettings?

  /// A comparison with all families of a deployment.
  /// - Parameter receiver: Only what this receiver is configured to get; nil: everything.
  public init(_ configuration: KafkaConfiguration, catalog: TopicCatalog, receiver: ForwardSettings?) {
    self.configuration = configuration
    self.receiver = receiver
    let families = receiver.map { Set($0.families) } ?? []
    topics = catalog.notificationTopics.filter { topic in
      families.isEmpty || families.contains { topic.name == TopicSelection.familyPrefix + $0 }
    }.map(\.topic)
  }

  /// The largest log that is read; it holds some 30 000 bodies, or ten million ids.
  private static let inputLimit = 512 << 20

  /// What stands in the file at `path`; in standard input for `-`.
  /// - Throws: ``OperationError`` of kind `usage` that names the file, or the line in it.
  public static func received(in path: String) throws(OperationError) -> [ReceivedNotification] {
    guard path != "-" else { return try received(try StandardInput.readAll(limit: inputLimit), file: "-") }
    let text: [UInt8]
    do { text = try Files.read(path, limit: inputLimit) } catch {
      let reasons = error.problems.map(\.what).joined(separator: ", ")
      throw OperationError(.usage, reasons, at: path, remedy: "name a file with what was received, or -")
    }
    return try received(text, file: path)
  }

  /// The lines of another receiver's log, empty ones left out.
  /// - Throws: ``OperationError`` that names the line that cannot be read.
  static func received(_ text: [UInt8], file: String) throws(OperationError) -> [ReceivedNotification] {
    var found: [ReceivedNotification] = []
    for (number, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      guard line.contains(where: { $0 > UInt8(ascii: " ") }) else { continue }
      do { found.append(try ReceivedNotification(line: line)) } catch {
        throw OperationError(.usage, error.what, at: "\(file):\(number + 1)", remedy: error.remedy)
      }
    }
    return found
  }

  /// Reads the topics and compares.
  /// - Throws: `KafkaError`, or ``OperationError`` where a topic does not exist.
  public func compare(_ received: [ReceivedNotification], in window: Window) async throws -> Comparison {
    var kept: [Comparison.Kept] = []
    for topic in topics {
      try await SnapshotReader(configuration).read(topic) { record in
        let envelope = NotificationEnvelope(record)
        guard window.contains(record.timestamp), let id = envelope.id, let value = record.value,
          receiver?.takes(
            type: envelope.notificationType, bundleId: envelope.bundleId, environment: envelope.environment) != false
        else { return }
        kept.append(
          Comparison.Kept(
            id: id, key: envelope.subject ?? id, topic: topic, type: envelope.notificationType ?? "", bytes: value))
      }
    }
    return Comparison(topics: kept, receiver: received)
  }
}
