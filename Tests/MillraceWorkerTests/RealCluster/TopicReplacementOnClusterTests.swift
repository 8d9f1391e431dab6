// Tests on a real Kafka that a worker notices topics that were deleted, created again or emptied.

import AppStore
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15)), .enabled(if: ClusterKind.realServers != nil, ClusterKind.needsReal))
struct TopicReplacementOnClusterTests {
  private func receive(_ count: Int, _ cluster: WorkerCluster) async throws -> [NotificationFixture] {
    try await cluster.receive(Array(repeating: .didRenew, count: count))
  }

  /// Waits for the end of a process and requires that it names a topic and what to do.
  @discardableResult
  private func requireStop(
    _ worker: WorkerInstance, of topic: String, saying text: String
  ) async throws -> MillraceError {
    let end = await worker.failure()
    let error = try #require(end as? MillraceError, "\(String(describing: end))")
    #expect(error.area == .topics && error.problems.contains { $0.place?.hasPrefix(topic) == true }, "\(error)")
    #expect(error.description.contains(text), "\(error)")
    return error
  }

  /// Resets the live topic as the operator does, and requires one event for each of the new notifications.
  private func requireAll(_ sent: [NotificationFixture], after cluster: WorkerCluster) async throws {
    try await cluster.resetOffsets(of: cluster.topics.inputs, toEarliest: true)
    let last = try await cluster.start()
    try await cluster.events(for: sent)
    try await last.leave()
    let events = try await cluster.events().map(\.notification)
    #expect(Set(events).count == events.count, "an event was published twice")
    #expect(Set(sent.map(\.id)).isSubset(of: events))
  }

  @Test(arguments: [10, 60])
  func `a running worker stops if its topic was created again, shorter or longer`(_ count: Int) async throws {
    let cluster = try await WorkerCluster(.real, lanes: 1)
    let worker = try await cluster.start()
    try await cluster.events(for: try await receive(30, cluster))
    _ = try await cluster.committed()
    try await cluster.recreate(cluster.input)
    let sent = try await receive(count, cluster)
    // The process compares its topics every minute. A shorter one shows itself before.
    if count > 30 { await worker.runtime.checkTopics() }
    try await requireStop(worker, of: cluster.input, saying: "--to-earliest")
    try await requireAll(sent, after: cluster)
  }

  @Test func `a worker does not start with the offset of a topic that was created again`() async throws {
    let cluster = try await WorkerCluster(.real, lanes: 1)
    let first = try await cluster.start()
    try await cluster.events(for: try await receive(5, cluster))
    let committed = try #require(try await cluster.committed())
    try await first.leave()
    let marks = try await cluster.marks()
    try await cluster.recreate(cluster.input)
    let sent = try await receive(8, cluster)
    // The brokers delete the offset, some time after the topic. A process that ran meanwhile would commit it again.
    while try await cluster.marks() == marks { try Task.checkCancellation() }
    try await cluster.commit(marks)
    #expect(committed.values.contains(5))
    for _ in 0..<2 {
      try await requireStop(try await cluster.start(), of: cluster.input, saying: "does not have the record")
    }
    #expect(try await cluster.marks() == marks, "the stopping worker commits nothing")
    try await requireAll(sent, after: cluster)
  }

  @Test(arguments: [false, true])
  func `a worker without its ledger waits for the operator's decision`(isFromStart: Bool) async throws {
    let cluster = try await WorkerCluster(.real, lanes: 1)
    let first = try await cluster.start()
    let before = try await receive(5, cluster)
    try await cluster.events(for: before)
    _ = try await cluster.committed()
    try await first.leave()
    try await cluster.recreate(cluster.topics.ledger)
    for _ in 0..<2 {
      try await requireStop(try await cluster.start(), of: cluster.topics.ledger, saying: "effects can repeat")
    }
    try await cluster.resetOffsets(of: cluster.topics.sources, toEarliest: isFromStart)
    let last = try await cluster.start()
    let after = try await receive(3, cluster)
    try await cluster.events(for: after)
    _ = try await cluster.committed()
    try await last.leave()
    #expect(try await cluster.events().count == (isFromStart ? 13 : 8))
  }

  @Test(arguments: [true, false])
  func `a running worker stops if its ledger or its retry topic was created again`(isLedger: Bool) async throws {
    let cluster = try await WorkerCluster(.real, lanes: 1)
    let worker = try await cluster.start()
    try await cluster.events(for: try await cluster.receive(.didRenew, .didFailToRenew, .didRenew))
    _ = try await cluster.committed()
    let topic = isLedger ? cluster.topics.ledger : cluster.topics.retries[0]
    try await cluster.recreate(topic)
    await worker.runtime.measureLag()
    try await requireStop(worker, of: topic, saying: "stop every process")
  }

  @Test(arguments: [true, false])
  func `a running worker stops if its ledger or its retry topic was deleted`(isLedger: Bool) async throws {
    let cluster = try await WorkerCluster(.real, lanes: 1)
    let worker = try await cluster.start()
    try await cluster.events(for: try await cluster.receive(.didRenew, .didFailToRenew))
    let topic = isLedger ? cluster.topics.ledger : cluster.topics.retries[0]
    try await cluster.connection.deleteTopic(topic)
    try await cluster.receive(.didRenew)
    for _ in 0..<3 { await worker.runtime.measureLag() }
    try await requireStop(worker, of: topic, saying: "the topic is missing")
  }

  @Test func `records that are deleted ahead of a running worker are counted and logged`() async throws {
    let cluster = try await WorkerCluster(.real, lanes: 1) { $0.recordsInFlight = 8 }
    let errors = ErrorLog()
    let worker = try await cluster.start(logger: errors.logger)
    try await cluster.events(for: try await receive(3, cluster))
    await worker.runtime.measureLag()
    // More than the worker can have fetched when the records are deleted.
    let ahead = try await receive(2_000, cluster)
    try await cluster.connection.deleteRecords(of: TopicPartition(topic: cluster.input, partition: 0), before: 2_003)
    try await cluster.events(for: try await receive(1, cluster))
    await worker.runtime.measureLag()
    try await worker.leave()
    let handled = Set(try await cluster.events().map(\.notification))
    let lost = ahead.count { !handled.contains($0.id) }
    #expect(lost > 1_000, "\(lost)")
    let lines = errors.lines.filter { $0.hasPrefix("records were deleted") }
    // The worker still runs records that it had fetched when the lag was measured, so the count is an upper bound.
    let counted = lines.compactMap { line in
      line.split(separator: " ").first { $0.hasPrefix("records-at-most=") }.flatMap { Int($0.dropFirst(16)) }
    }.reduce(0, +)
    #expect((lost...ahead.count).contains(counted), "\(lost): \(errors.lines)")
  }
}

extension WorkerCluster {
  /// Returns the committed offsets of the live topic, with their metadata.
  fileprivate nonisolated func marks() async throws -> [CommittedOffset] {
    let reader = try log.makeReader(group: topics.group, topics: topics.sources, options: LogReaderOptions())
    return try await reader.committed([TopicPartition(topic: input, partition: 0)], timeout: .seconds(30))
  }

  /// Commits offsets as a member of the group.
  fileprivate nonisolated func commit(_ offsets: [CommittedOffset]) async throws {
    let reader = try log.makeReader(group: topics.group, topics: topics.inputs, options: LogReaderOptions())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await reader.run() }
      defer { reader.shutDown() }
      for await event in reader.events {
        guard case .assigned = event else { continue }
        return try await reader.commit(offsets)
      }
    }
  }
}
