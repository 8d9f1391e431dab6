// The import of customers from before Millrace: writes a request for each, and watches how the worker answers them.

internal import KafkaClient
internal import MillraceCore
package import MillraceRecords
package import MillraceTime
internal import MillraceWorker

/// Writes requests about purchases, which the subscriptions worker answers by asking Apple.
package struct SubscriptionImport: Sendable {
  private let log: any RecordLog
  private let prefix: String
  private let clock: MillraceClock

  /// - Parameter prefix: The prefix of every topic's name.
  package init(on log: any RecordLog, prefix: String, clock: MillraceClock) {
    (self.log, self.prefix, self.clock) = (log, prefix, clock)
  }

  /// The transaction ids of a list, one in a line, and the lines that contain something else.
  package struct List: Sendable, Hashable {
    package var ids: [String] = []
    /// The numbers of lines without a transaction id, from 1.
    package var invalidLines: [Int] = []

    /// Reads a list. Ignores empty lines, comments after `#` and repetitions.
    package init(_ text: [UInt8]) {
      var seen: Set<String> = []
      let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() {
        let id = line.prefix { $0 != UInt8(ascii: "#") }.filter { $0 > UInt8(ascii: " ") }
        guard !id.isEmpty else { continue }
        let isNumber = id.count <= 20 && id.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let name = String(decoding: id, as: UTF8.self)
        if !isNumber { invalidLines.append(number + 1) } else if seen.insert(name).inserted { ids.append(name) }
      }
    }
  }

  private static let batch = 5_000

  /// Writes the requests that are not in Kafka yet. The worker answers each once, however often it is written.
  /// - Parameter report: Called with the number of requests that are in Kafka.
  /// - Throws: ``MillraceError`` if the topic is missing; `KafkaError`; `CancellationError`.
  package func write(_ requests: [ImportRecord], report: @escaping @Sendable (Int) async -> Void) async throws {
    let topic = prefix + NotificationFamily.subscriptionImports.topic
    guard try await log.partitionCounts(of: [topic], timeout: .seconds(15))[topic] != nil else {
      throw MillraceError(.topics, "the topic is missing", at: topic, remedy: "run `millrace topics apply`")
    }
    let known = try await written(to: topic)
    let missing = requests.filter { !known.contains($0.id) }
    let before = requests.count - missing.count
    if before > 0 { await report(before) }
    guard !missing.isEmpty else { return }
    let writer = try log.makeWriter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      group.addTask {
        defer { writer.shutDown() }
        try await send(missing, by: writer) { await report(before + $0) }
      }
      try await group.waitForAll()
    }
  }

  /// Returns the ids of the requests that an earlier import has written.
  private func written(to topic: String) async throws -> Set<String> {
    let counts = try await log.partitionCounts(of: [topic], timeout: .seconds(15))
    var ids: Set<String> = []
    for partition in 0..<Int32(clamping: counts[topic] ?? 0) {
      ids = try await log.fold(TopicPartition(topic: topic, partition: partition), into: ids) { ids, page in
        ids.formUnion(
          page.compactMap { record in
            record.headers.last { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) }
          })
      }
    }
    return ids
  }

  private func send(
    _ requests: [ImportRecord], by writer: any LogWriter, _ report: @Sendable (Int) async -> Void
  ) async throws {
    for first in stride(from: 0, to: requests.count, by: Self.batch) {
      try Task.checkCancellation()
      let batch = requests[first..<min(requests.count, first + Self.batch)]
      let records = batch.map { $0.producerRecord(prefix: prefix).timed(by: clock) }
      _ = try await writer.send(contentsOf: records)
      await report(first + batch.count)
    }
  }

  /// The topics in which requests of the worker wait.
  package static func topics(of names: WorkerTopics, prefix: String) -> [String] {
    [prefix + NotificationFamily.subscriptionImports.topic] + names.retries
  }
}
