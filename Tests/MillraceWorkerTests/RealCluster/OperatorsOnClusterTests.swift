// Tests operators' commands on a cluster: concurrent commands of two operators, and a replay whose worker is killed.

import AppStore
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct OperatorsOnClusterTests {
  private static func results(_ cluster: WorkerCluster) async throws -> [OperationResult] {
    try await cluster.records(in: cluster.topics.operations).compactMap { record in
      if case .result(let result)? = OperationsRecord(record) { result } else { nil }
    }
  }

  @Test(arguments: ClusterKind.available)
  func `concurrent commands of two operators settle every dead letter exactly once`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind)
    let worker = try await cluster.start()
    let types = [NotificationTypeV2](repeating: .gracePeriodExpired, count: 12)
    var notifications: [NotificationFixture] = []
    for type in types { notifications += try await cluster.receive(type) }
    let letters = try await cluster.records(in: cluster.topics.deadLetters) { $0.count == types.count }
    Tally.mended.withLock { mended in mended.formUnion(notifications.map(\.id)) }

    func give(_ action: OperationCommand.Action, by author: String) async throws {
      let commands = letters.map { letter in
        OperationsRecord.command(
          OperationCommand(
            id: "\(author)-\(letter.partition)-\(letter.offset)",
            item: OperationCommand.deadLetter(lane: letter.partition, offset: letter.offset), worker: Tally.name,
            lane: letter.partition, action: action, why: "", by: author, at: Timestamp(millisecondsSince1970: 0)))
      }
      for command in commands.shuffled() {
        try await cluster.write([command.producerRecord(cluster.topics.operations)])
      }
    }
    async let one: Void = give(.requeue, by: "ann")
    async let two: Void = give(.discard, by: "bob")
    _ = try await (one, two)
    _ = try await cluster.records(in: cluster.topics.operations) { records in
      let settled = records.compactMap { record -> String? in
        if case .result(let result)? = OperationsRecord(record) { result.item } else { nil }
      }
      return Set(settled).count == types.count
    }
    try await worker.leave()

    var first: [String: OperationCommand] = [:]
    for record in try await cluster.records(in: cluster.topics.operations) {
      if case .command(let command)? = OperationsRecord(record), first[command.item] == nil {
        first[command.item] = command
      }
    }
    let results = try await Self.results(cluster)
    #expect(
      results.count == types.count && results.allSatisfy { first[$0.item]?.id == $0.command && $0.outcome == .done })
    let copies = try await cluster.records(in: cluster.topics.replay).map { DeliveryHistory($0).replay?.id }
    #expect(Set(copies) == Set(first.values.filter { $0.action == .requeue }.map(\.id)))
    #expect(copies.count == Set(copies).count)
  }

  @Test(arguments: ClusterKind.available)
  func `the next worker finishes the replay of a killed one, each record once`(_ kind: ClusterKind) async throws {
    let cluster = try await WorkerCluster(kind, lanes: 1)
    let first = try await cluster.start()
    let renewals = try await cluster.receive(
      .didRenew, .didRenew, .didRenew, .didRenew, .didRenew, .didRenew, .didRenew, .didRenew)
    try await cluster.events(for: renewals)
    let stored = try await cluster.records(in: cluster.input)
    var part = ReplayPart(
      topic: cluster.input, from: stored.first?.offset ?? 0, to: (stored.last?.offset ?? 0) + 1)
    // Two records a second, so the worker is killed during the replay.
    part.rate = 2
    let command = OperationCommand(
      id: "c", run: "r", item: "c", worker: Tally.name, lane: 0, action: .replay(part), why: "", by: "ann",
      at: Timestamp(millisecondsSince1970: 0))
    try await cluster.write([OperationsRecord.command(command).producerRecord(cluster.topics.operations)])
    _ = try await cluster.records(in: cluster.topics.replay) { $0.count >= 2 }
    await first.kill()

    let second = try await cluster.start()
    _ = try await cluster.records(in: cluster.topics.operations) { records in
      records.contains { record in
        if case .result(let result)? = OperationsRecord(record) { result.outcome == .done } else { false }
      }
    }
    try await second.leave()
    let copies = try await cluster.records(in: cluster.topics.replay).map { DeliveryHistory($0).first.offset }
    #expect(copies.sorted() == stored.map(\.offset), "\(copies)")
    #expect(try await cluster.events().count == renewals.count, "a plain replay must not repeat events")
    let ends = try await cluster.records(in: cluster.topics.audit).compactMap { AuditRecord($0) }
    #expect(ends.map(\.run) == ["r"])
  }
}
