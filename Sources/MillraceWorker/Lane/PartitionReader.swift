// Reads one partition for its lane.

internal import KafkaClient
internal import Logging
internal import MillraceRecords

/// Reads a partition until it is revoked or its lane ends.
struct PartitionReader: Sendable {
  private static let pageSize = 64

  private let partition: any LogPartition
  private let lane: LaneRunner

  init(_ partition: any LogPartition, of lane: LaneRunner) {
    self.partition = partition
    self.lane = lane
  }

  /// - Throws: ``KafkaError`` if the partition cannot be read; ``TopicReplacement`` if it is another one.
  func run() async throws {
    let topic = partition.partition.topic
    let source = lane.parts.topics.source(of: topic)
    var next = Int64.min
    while await lane.hasRoom(for: source) {
      guard let page = try await nextPage() else { return }
      // Kafka lets a reader begin again, without an error, if its offset is beyond the end of the partition.
      if let first = page.records.first, first.offset < next { try await confirm() }
      if let last = page.records.last { next = last.offset + 1 }
      // Headers are parsed outside of the actor, so several cores can share the work of a lane.
      await lane.receive(
        LaneItem.batch(page.records, source: source, clock: lane.parts.clock), from: topic, end: page.end)
    }
  }

  /// Returns the next page; nil if the partition was revoked.
  private func nextPage() async throws -> LogPage? {
    while true {
      do {
        return try await partition.nextPage(upTo: Self.pageSize)
      } catch {
        guard error.isUnknownTopic else { throw error }
        // The client continues by itself once its broker knows the topic.
        try await lane.parts.readRetry.confirmTopics()
      }
    }
  }

  /// Throws if the partition is another one than the one that the lane has read.
  private func confirm() async throws {
    guard let memory = await lane.progress.sources[partition.partition.topic]?.memory else { return }
    do {
      try await lane.parts.check.confirm([partition.partition: memory])
    } catch let error as KafkaError where error.isRetriable || error.isUnknownTopic {
      // The supervisor compares it again. Until then the lane skips the records.
      lane.parts.logger.warning(
        "a topic was read from an earlier offset again, and cannot be compared yet",
        metadata: ["source": "\(partition.partition)", "error": "\(error)"])
    }
  }
}
