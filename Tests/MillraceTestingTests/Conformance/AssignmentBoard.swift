// Tracks the assignments of a group while members join and leave. The number of rebalances is not predictable, so tests
// wait for an expected state and do not count assignments.

import KafkaClient
import MillraceRecords
import Synchronization
import Testing

/// The latest assignment of each member. A member without an assignment has no entry.
final class AssignmentBoard: Sendable {
  private let state: Mutex<[Int: Set<TopicPartition>]> = Mutex([:])
  private let changes: AsyncStream<[Int: Set<TopicPartition>]>
  private let sink: AsyncStream<[Int: Set<TopicPartition>]>.Continuation

  init() { (changes, sink) = AsyncStream.makeStream() }

  /// Records a reader's events until the reader is closed.
  func follow(_ reader: any LogReader, as member: Int) async {
    for await event in reader.events {
      switch event {
      case .assigned(let partitions): note(Set(partitions.map(\.partition)), of: member)
      case .revoked(let revocation):
        note(nil, of: member)
        revocation.complete()
      }
    }
    note(nil, of: member)
  }

  /// Waits for a state. Only one caller may wait at a time.
  func wait(for isReached: ([Int: Set<TopicPartition>]) -> Bool) async -> [Int: Set<TopicPartition>] {
    for await state in changes where isReached(state) { return state }
    return [:]
  }

  private func note(_ assignment: Set<TopicPartition>?, of member: Int) {
    state.withLock { state in
      state[member] = assignment
      sink.yield(state)
    }
  }
}

extension LogUnderTest {
  /// Runs members of the test's group while `body` runs.
  func withBoard(
    of topics: [String], members count: Int,
    _ body: (AssignmentBoard, [any LogReader]) async throws -> Void
  ) async throws {
    let board = AssignmentBoard()
    let readers = try (0..<count).map { _ in
      try log.makeReader(group: "\(prefix).group", topics: topics, options: LogReaderOptions())
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (member, reader) in readers.enumerated() {
        group.addTask { try await reader.run() }
        group.addTask { await board.follow(reader, as: member) }
      }
      defer { for reader in readers { reader.shutDown() } }
      try await body(board, readers)
    }
  }
}
