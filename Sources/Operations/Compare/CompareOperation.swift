// Implements `millrace compare`: compares the notification topics with another receiver's log.

package import AppStore
package import MillraceTime
package import KafkaClient
package import Forward
internal import MillraceCore
package import MillraceRecords

/// Compares another receiver's log with the topics.
package struct CompareOperation: Sendable {
  /// The time range of the records to compare.
  package struct Window: Sendable, Hashable {
    /// The earliest time of writing.
    package var since: Timestamp?
    /// The end of the range, exclusive.
    package var until: Timestamp?

    /// Creates a range; nil means unbounded.
    package init(since: Timestamp? = nil, until: Timestamp? = nil) {
      self.since = since
      self.until = until
    }

    func contains(_ time: Timestamp?) -> Bool {
      guard let time else { return since == nil && until == nil }
      return (since.map { time >= $0 } ?? true) && (until.map { time < $0 } ?? true)
    }
  }

  private let configuration: KafkaConfiguration
  private let topics: [String]
  private let receiver: ForwardSettings?
  private let clock: MillraceClock

  /// Creates a comparison with all families of a deployment.
  /// - Parameters:
  ///   - receiver: Compares only notifications that this receiver is configured to get; nil: all.
  ///   - clock: The clock of the records' times.
  package init(
    _ configuration: KafkaConfiguration, catalog: TopicCatalog, receiver: ForwardSettings?,
    clock: MillraceClock = .system
  ) {
    self.configuration = configuration
    self.receiver = receiver
    self.clock = clock
    let families = receiver.map { Set($0.families) } ?? []
    topics = catalog.notificationTopics.filter { topic in
      families.isEmpty || families.contains { topic.name == TopicSelection.familyPrefix + $0 }
    }.map(\.topic)
  }

  /// The size limit of a log, enough for some 30 000 bodies or ten million IDs.
  private static let inputLimit = 512 << 20

  /// Reads the file at `path`, or standard input for `-`.
  /// - Throws: ``OperationError`` of kind `usage` that names the file or the line.
  package static func received(in path: String) throws(OperationError) -> [ReceivedNotification] {
    guard path != "-" else { return try received(try StandardInput.readAll(limit: inputLimit), file: "-") }
    let text: [UInt8]
    do { text = try Files.read(path, limit: inputLimit) } catch {
      let reasons = error.problems.map(\.what).joined(separator: ", ")
      throw OperationError(.usage, reasons, at: path, remedy: "pass the file with the received notifications, or -")
    }
    return try received(text, file: path)
  }

  /// Parses the lines of another receiver's log, skipping empty ones.
  /// - Throws: ``OperationError`` that names the invalid line.
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
  /// - Throws: `KafkaError`, or ``OperationError`` if a topic does not exist.
  package func compare(_ received: [ReceivedNotification], in window: Window) async throws -> Comparison {
    let kept = try await kept(in: window, log: try await KafkaLog.reader(configuration))
    return Comparison(topics: kept.sorted { $0.key < $1.key }.flatMap(\.value), receiver: received)
  }

  private func kept(in window: Window, log: any RecordLog) async throws -> [TopicPartition: [Comparison.Kept]] {
    try await log.fold(try await log.presentOffsets(of: topics), into: [:]) { kept, page in
      kept[page.partition, default: []] += page.records.compactMap { self.kept($0, in: window) }
    }
  }

  private func kept(_ record: ConsumerRecord, in window: Window) -> Comparison.Kept? {
    let envelope = NotificationEnvelope(record)
    guard window.contains(record.time(by: clock)), let id = envelope.id, let value = record.value,
      receiver?.takes(
        type: envelope.notificationType, bundleId: envelope.bundleId, environment: envelope.environment) != false
    else { return nil }
    return Comparison.Kept(
      id: id, key: envelope.subject ?? id, topic: record.topic, type: envelope.notificationType ?? "", bytes: value)
  }
}
