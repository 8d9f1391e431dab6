import KafkaClient
import Synchronization
import TestEnvironment
import Testing

@testable import MillraceRecords

@Suite(.timeLimit(.minutes(15))) struct WatermarkQuestionsTests {
  /// A cluster that answers each query when the test allows it, and records the queries.
  private final class Cluster: Sendable {
    private struct State {
      var asked: [Set<String>] = []
      var gates: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func answer(_ partitions: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
      await withCheckedContinuation { gate in
        state.withLock { state in
          state.asked.append(Set(partitions.map(\.topic)))
          state.gates.append(gate)
        }
      }
      guard !partitions.contains(where: { $0.topic == "bad" }) else {
        throw KafkaError(code: .unknownTopicOrPartition, operation: "ask", reason: "bad")
      }
      return Dictionary(partitions.map { ($0, 0..<Int64($0.topic.count)) }) { first, _ in first }
    }

    var asked: [Set<String>] { state.withLock { $0.asked } }

    /// Waits for the next query and answers it.
    func open() async throws {
      try await waitUntil(!state.withLock(\.gates).isEmpty)
      state.withLock { $0.gates.removeFirst() }.resume()
    }
  }

  private func ask(_ topic: String, _ questions: WatermarkQuestions) -> Task<Range<Int64>?, any Error> {
    Task {
      let partition = TopicPartition(topic: topic, partition: 0)
      let answer = try await questions.answer([partition], timeout: .seconds(1))
      #expect(answer.count == 1, "the answer must not contain partitions of another caller")
      return answer[partition]
    }
  }

  private func waits(_ questions: WatermarkQuestions, for count: Int) async throws {
    try await waitUntil(await questions.waitingCount >= count)
  }

  @Test func `queries that arrive during a request are sent together in the next one`() async throws {
    let cluster = Cluster()
    let questions = WatermarkQuestions { (partitions, _) async throws(KafkaError) in
      try await cluster.answer(partitions)
    }
    let first = ask("a", questions)
    try await waitUntil(!cluster.asked.isEmpty)
    let others = ["bb", "ccc", "dddd"].map { ask($0, questions) }
    try await waits(questions, for: 3)
    try await cluster.open()
    try await cluster.open()
    #expect(try await first.value == 0..<1)
    for (other, end) in zip(others, 2...) { #expect(try await other.value == 0..<Int64(end)) }
    #expect(cluster.asked == [["a"], ["bb", "ccc", "dddd"]])
    let last = ask("e", questions)
    try await cluster.open()
    #expect(try await last.value == 0..<1)
  }

  @Test func `an invalid query does not fail the others`() async throws {
    let cluster = Cluster()
    let questions = WatermarkQuestions { (partitions, _) async throws(KafkaError) in
      try await cluster.answer(partitions)
    }
    let first = ask("a", questions)
    try await waitUntil(!cluster.asked.isEmpty)
    let bad = ask("bad", questions)
    try await waits(questions, for: 1)
    let good = ask("good", questions)
    try await waits(questions, for: 2)
    for _ in 0..<4 { try await cluster.open() }
    #expect(try await first.value == 0..<1)
    #expect(try await good.value == 0..<4)
    await #expect(throws: KafkaError.self) { try await bad.value }
  }
}
