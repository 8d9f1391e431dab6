// Tests that a worker's promises hold while lanes move between its processes.

import AppStore
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct HandOverOnClusterTests {
  @Test(arguments: ClusterKind.available)
  func `processes share lanes and take over those of a process that leaves`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind, lanes: 4)
    let first = try await cluster.start()
    var sent = try await cluster.receive(.didRenew, .expired, .subscribed, .didRenew)
    try await cluster.events(for: sent)

    let second = try await cluster.start()
    // Waits for each event, so the test does not write faster than the workers handle.
    var processes: Set<String> = []
    while processes.count < 2 {
      sent += try await cluster.receive(.didRenew, .expired, .didFailToRenew)
      processes = Set(try await cluster.events(for: sent).map(\.process))
    }
    // Records in flight while lanes move must still be handled.
    sent += try await cluster.receive(.didRenew, .didFailToRenew, .expired, .didFailToRenew, .subscribed, .didRenew)
    try await first.leave()
    sent += try await cluster.receive(.didRenew, .expired, .subscribed, .didRenew)
    try await cluster.events(for: sent)
    try await second.leave()

    let events = try await cluster.events()
    #expect(Set(events.map(\.notification)) == Set(sent.map(\.id)))
    // Each notification has one event ID, even if its event was published twice.
    #expect(Set(events.map(\.id)).count == sent.count)
    if kind.hasTransactions { #expect(events.count == sent.count) }
    #expect(try await cluster.records(in: cluster.topics.deadLetters).isEmpty)
  }

  @Test(arguments: ClusterKind.available)
  func `the next process finishes the work of a killed process`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind, lanes: 2)
    let first = try await cluster.start()
    var sent = try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: sent)
    sent += try await cluster.receive(.didRenew, .expired, .subscribed, .didFailToRenew, .didRenew, .expired)
    await first.kill()
    let second = try await cluster.start()
    try await cluster.events(for: sent)
    try await second.leave()
    let events = try await cluster.events()
    #expect(Set(events.map(\.id)).count == sent.count)
    if kind.hasTransactions { #expect(events.count == sent.count) }
  }

  @Test(.enabled(if: ClusterKind.realServers != nil, ClusterKind.needsReal))
  func `a process whose name another process takes exits with its own status`() async throws {
    let cluster = try await WorkerCluster(.real, lanes: 2, properties: Self.shortSession)
    let first = try await cluster.start(instance: "one")
    var sent = try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: sent)
    let second = try await cluster.start(instance: "one")
    for _ in 0..<4 {
      sent += try await cluster.receive(.didRenew, .expired, .subscribed)
      try await cluster.events(for: sent)
    }
    let error = try #require(await first.failure() as? MillraceError)
    #expect(ExitStatus(error) == .nameTaken, "\(error)")
    sent += try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: sent)
    try await second.leave()
    #expect(try await cluster.events().map(\.notification).sorted() == sent.map(\.id).sorted())
  }

  /// The shortest that brokers allow.
  private static let shortSession = ["session.timeout.ms": "6000"]

  @Test(.enabled(if: ClusterKind.realServers != nil, ClusterKind.needsReal))
  func `a process that the member of a dead process fences rejoins`() async throws {
    let cluster = try await WorkerCluster(.real, lanes: 2, properties: Self.shortSession)
    let worker = try await cluster.start(instance: "one")
    var sent = try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: sent)
    for _ in 0..<2 {
      try await cluster.fence("one")
      sent += try await cluster.receive(.didRenew, .expired, .subscribed, .didFailToRenew)
      try await cluster.events(for: sent)
    }
    // The process is still running, so it can leave gracefully.
    try await worker.leave()
    #expect(try await cluster.events().map(\.notification).sorted() == sent.map(\.id).sorted())
  }

  @Test(.enabled(if: ClusterKind.realServers != nil, ClusterKind.needsReal), arguments: ["one", nil])
  func `a process whose producer is fenced rejoins and publishes each event once`(instance: String?) async throws {
    let cluster = try await WorkerCluster(.real, lanes: 2)
    let worker = try await cluster.start(instance: instance)
    var sent = try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: sent)
    for _ in 0..<3 {
      try await cluster.fenceProducer(of: worker)
      sent += try await cluster.receive(.didRenew, .expired, .subscribed, .didFailToRenew)
      try await cluster.events(for: sent)
    }
    // The process is still running, so it can leave gracefully.
    try await worker.leave()
    #expect(try await cluster.events().map(\.notification).sorted() == sent.map(\.id).sorted())
    #expect(try await cluster.records(in: cluster.topics.deadLetters).isEmpty)
  }
}

extension WorkerCluster {
  /// Joins the group under the name of a process with a member that then sends nothing more.
  fileprivate nonisolated func fence(_ instance: String) async throws {
    let reader = try log.makeReader(
      group: topics.group, topics: topics.sources, options: LogReaderOptions(instance: instance))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await reader.run() }
      for await event in reader.events {
        // A static member does not leave its group.
        if case .assigned = event { break }
      }
      reader.shutDown()
      try await group.waitForAll()
    }
  }

  /// Takes over the transactional ID of a process, as a second process with its name would.
  fileprivate nonisolated func fenceProducer(of worker: WorkerInstance) async throws {
    let writer = try log.makeTransactionalWriter(id: worker.runtime.transactionalID, timeout: .seconds(10))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      defer { writer.shutDown() }
      try await writer.initialize(timeout: .seconds(30))
    }
  }
}
