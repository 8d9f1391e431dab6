// The clients of schedules. Each call that fails adds a line to the report.

internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

final class Producer: Sendable {
  let name: String
  private let stage: Stage
  private let writer: any TransactionalLogWriter
  private static let limit = Duration.seconds(60)

  init(_ stage: Stage, _ name: String, _ writer: any TransactionalLogWriter) {
    (self.stage, self.name, self.writer) = (stage, name, writer)
  }

  func initialize() async {
    await stage.call("\(name) initializes") { try await writer.initialize(timeout: Self.limit) }
  }

  func begin() async { await stage.call("\(name) begins") { try await writer.begin() } }

  func send(_ text: String, to topic: String = "t") async {
    await stage.call("\(name) sends \(text)") { _ = try await writer.send(stage.record(text, topic)) }
  }

  func sendOffset(_ offset: Int64, of member: Member, topic: String = "t") async {
    await stage.call("\(name) sends offset \(offset)") {
      let metadata = try await member.reader.groupMetadata()
      try await send(offset, topic, metadata)
    }
  }

  func sendOffset(_ offset: Int64, _ metadata: GroupMetadata, topic: String = "t") async {
    await stage.call("\(name) sends offset \(offset)") { try await send(offset, topic, metadata) }
  }

  private func send(_ offset: Int64, _ topic: String, _ group: GroupMetadata) async throws {
    try await writer.sendOffsets(
      [CommittedOffset(stage.partition(topic), offset: offset)], group: group, timeout: Self.limit)
  }

  func commit() async { await stage.call("\(name) commits") { try await writer.commit(timeout: Self.limit) } }
  func abort() async { await stage.call("\(name) aborts") { try await writer.abort(timeout: Self.limit) } }

  func end(isCommit: Bool) async { if isCommit { await commit() } else { await abort() } }

  /// A transaction with one record.
  func transaction(_ text: String, to topic: String = "t") async {
    await begin()
    await send(text, to: topic)
    await commit()
  }

  /// Reports whether a late request could still arrive.
  func noteUnanswered() { stage.note("\(name) has an unanswered request: \(writer.hasUnansweredRequest)") }
}

final class Member: Sendable {
  private struct State {
    var assignments = 0
    var partitions: [TopicPartition] = []
    var revocation: PartitionRevocation?
    var losses = 0
    var failure: KafkaError?
    var hasEnded = false
  }

  let name: String
  let reader: any LogReader
  private let stage: Stage
  private let state = Mutex(State())
  private let tasks: Mutex<[Task<Void, Never>]> = Mutex([])
  /// Whether revocations are completed at once.
  private let completes: Bool

  init(_ stage: Stage, _ name: String, _ reader: any LogReader, completes: Bool) {
    (self.stage, self.name, self.reader, self.completes) = (stage, name, reader, completes)
    let serve = Task { await self.serve() }
    let run = Task { await self.run() }
    tasks.withLock { $0 = [serve, run] }
  }

  private func run() async {
    do throws(KafkaError) {
      try await reader.run()
    } catch {
      state.withLock { $0.failure = error }
    }
    state.withLock { $0.hasEnded = true }
  }

  private func serve() async {
    for await event in reader.events {
      switch event {
      case .assigned(let partitions):
        state.withLock { ($0.assignments, $0.partitions) = ($0.assignments + 1, partitions.map(\.partition)) }
      case .revoked(let revocation):
        state.withLock {
          $0.partitions = []
          if revocation.isLost { $0.losses += 1 }
          if !completes { $0.revocation = revocation }
        }
        if completes { revocation.complete() }
      }
    }
  }

  /// Waits until the member has so many partitions, after so many assignments.
  func assigned(_ count: Int, after assignments: Int = 1) async {
    await stage.until("\(name) has \(count) partitions") {
      state.withLock { $0.partitions.count == count && $0.assignments >= assignments }
    }
  }

  func revoked() async { await stage.until("\(name) is revoked") { state.withLock { $0.revocation != nil } } }
  func lost() async { await stage.until("\(name) loses its partitions") { state.withLock { $0.losses > 0 } } }

  func completeRevocation() {
    let revocation = state.withLock { state in
      defer { state.revocation = nil }
      return state.revocation
    }
    revocation?.complete()
  }

  func commit(_ offset: Int64, topic: String = "t") async {
    await stage.call("\(name) commits offset \(offset)") {
      try await reader.commit([CommittedOffset(stage.partition(topic), offset: offset)])
    }
  }

  func metadata() async throws -> GroupMetadata { try await reader.groupMetadata() }

  /// Reports the error that ended the member.
  func noteEnd() async {
    await stage.until("\(name) ends") { state.withLock { $0.failure != nil } }
    stage.note("\(name) ends: \(state.withLock { $0.failure.map { "\($0.code)" } ?? "no error" })")
  }

  func stop() async {
    reader.shutDown()
    await stage.until("\(name) stops") {
      completeRevocation()
      return state.withLock { $0.hasEnded }
    }
    for task in tasks.withLock({ $0 }) { await task.value }
  }
}
