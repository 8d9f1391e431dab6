// A process dies during a requeue. Checks its audit entry and how an operator closes it.

import AppStore
import MillraceTime
import KafkaClient
import MillraceWorker
import MillraceTesting
import Synchronization
import Testing

@testable import Operations

@Suite(.timeLimit(.minutes(15))) struct SettlingEndsTests {
  private let time = ManualClock()
  private let log: InMemoryLog
  private let letters = (0..<3).map { DeadLetterID(lane: 1, offset: Int64($0)) }

  /// Writes three dead letters of a worker that does not run.
  init() throws {
    log = InMemoryLog(clock: time.clock)
    for name in ["millrace.moody.dead-letters", "millrace.moody.replay"] { try log.createTopic(name, partitions: 2) }
    for name in ["millrace.operations", "millrace.audit"] { try log.createTopic(name, partitions: 1) }
    for _ in letters {
      try log.append(ProducerRecord(topic: "millrace.moody.dead-letters", partition: 1, key: [1], value: [1]))
    }
  }

  private func operations(_ process: String) throws -> WorkerOperations {
    try operations(log.process(process), by: process)
  }

  private func operations(_ log: InMemoryLog, by author: String) throws -> WorkerOperations {
    try WorkerOperations(worker: "moody", prefix: "", on: log, author: author, clock: time.clock)
  }

  private func line() async throws -> AuditSurvey.Line {
    let survey = try await AuditLog(on: log, prefix: "").survey(at: time.clock.wallTime)
    return try #require(survey.lines().first { $0.entry.action == .requeue })
  }

  /// Requeues all of them, and waits for the worker practically without a limit.
  private func requeue(
    _ operations: WorkerOperations, begun: @escaping @Sendable (String) throws -> Void = { _ in },
    accepted: @escaping @Sendable () -> Void
  ) async throws {
    let (count, all) = (Count(), letters.count)
    _ = try await operations.settle(
      letters, by: .requeue, why: "mended", patience: .seconds(86_400), begun: begun
    ) { report in
      guard report.event == .accepted else { return }
      if count.next() == all { accepted() }
    }
  }

  private final class Count: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }

  /// The time of the crash: before the first command is written, or after the last.
  @Test(arguments: [false, true])
  func `a killed process leaves a silent entry, and a stop closes it`(hasAsked: Bool) async throws {
    let process = log.process("ann")
    let ann = try operations(process, by: "ann")
    await #expect(throws: (any Error).self) {
      try await requeue(ann) { _ in
        if !hasAsked { process.crash() }
      } accepted: {
        process.crash()
      }
    }
    #expect(log.records(in: "millrace.operations").count == (hasAsked ? 3 : 0))
    let began = time.clock.wallTime
    #expect(try await line().status == .goingOn)
    let bob = try operations("bob")
    let run = try await line().entry.run
    // The process may still be alive, so the stop only asks it.
    #expect(try await bob.control(String(run.prefix(8)), .stop) == false)
    #expect(try await line().status == .goingOn)

    time.advance(by: .seconds(61))
    #expect(try await line().status == .silent(since: began))
    #expect(try await bob.control(String(run.prefix(8)), .stop))
    let ended = try await line()
    #expect(ended.status == .over(.stopped))
    // Written commands remain valid: the worker executes them when it runs.
    #expect(ended.entry.counts.first { $0.name == "unanswered" }?.count == (hasAsked ? 3 : 0))
    let error = await #expect(throws: OperationError.self) { try await bob.control(run, .stop) }
    #expect(error?.what == "the run is over")
    let stops = try await AuditLog(on: log, prefix: "").trail().entries.filter { $0.action == .stop }
    #expect(stops.map(\.by) == ["bob", "bob"])
  }

  @Test func `an interrupted process closes its entry with its counts`() async throws {
    let (told, tell) = AsyncStream<Void>.makeStream()
    let ann = try operations("ann")
    let task = Task {
      try await requeue(ann) { _ in
      } accepted: {
        tell.yield()
      }
    }
    for await _ in told { break }
    task.cancel()
    _ = await task.result
    let line = try await line()
    #expect(line.status == .over(.failed("interrupted")))
    #expect(line.entry.counts.map(\.count).reduce(0, +) == 3, "\(line.entry.counts)")
    #expect(line.entry.counts.first { $0.name == "unanswered" }?.count == 3, "\(line.entry.counts)")
  }
}
