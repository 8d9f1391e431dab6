// Several processes of one worker: who has which lane changes, and what is promised does not.

import AppStore
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct HandOverOnClusterTests {
  @Test(arguments: ClusterKind.available)
  func `lanes are shared, and whoever stays takes over from who leaves`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind, lanes: 4)
    let first = try await cluster.start()
    var sent = try await cluster.receive(.didRenew, .expired, .subscribed, .didRenew)
    try await cluster.events(for: sent)

    let second = try await cluster.start()
    // Each record is waited for, so the loop turns no faster than the workers handle.
    var processes: Set<String> = []
    while processes.count < 2 {
      sent += try await cluster.receive(.didRenew, .expired, .didFailToRenew)
      processes = Set(try await cluster.events(for: sent).map(\.process))
    }
    // What is on its way while the lanes move must arrive all the same.
    sent += try await cluster.receive(.didRenew, .didFailToRenew, .expired, .didFailToRenew, .subscribed, .didRenew)
    try await first.leave()
    sent += try await cluster.receive(.didRenew, .expired, .subscribed, .didRenew)
    try await cluster.events(for: sent)
    try await second.leave()

    let events = try await cluster.events()
    #expect(Set(events.map(\.notification)) == Set(sent.map(\.id)))
    // One identity for each, also where it was published twice.
    #expect(Set(events.map(\.id)).count == sent.count)
    if kind.hasTransactions { #expect(events.count == sent.count) }
    #expect(try await cluster.records(in: cluster.topics.deadLetters).isEmpty)
  }

  @Test(arguments: ClusterKind.available)
  func `what a process that was killed left undone is done by the next`(_ kind: ClusterKind) async throws {
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
  func `who takes over a process's name fences it`() async throws {
    let cluster = try await WorkerCluster(.real, lanes: 2)
    let first = try await cluster.start(instance: "one")
    var sent = try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: sent)
    let second = try await cluster.start(instance: "one")
    // It is fenced when it commits: with so many in turn it comes to that, whoever was first with the first of them, and
    // whosesoever lanes they are in.
    for _ in 0..<16 {
      sent += try await cluster.receive(.didRenew, .expired, .subscribed)
      try await cluster.events(for: sent)
    }
    let error = try #require(await first.failure() as? KafkaError)
    #expect(error.isFatal, "\(error)")
    sent += try await cluster.receive(.didRenew, .expired)
    try await cluster.events(for: sent)
    try await second.leave()
    #expect(try await cluster.events().map(\.notification).sorted() == sent.map(\.id).sorted())
  }
}
