// Lanes that start together all query watermarks, and each query needs a client of its own. Queries that arrive while
// one is running are combined into the next one.

internal import KafkaClient

/// Queries high watermarks and combines concurrent queries.
actor WatermarkQuestions {
  typealias Answer = [TopicPartition: Range<Int64>]

  private enum Turn: Sendable {
    case answered(Result<Answer, KafkaError>)
    /// The receiver runs the next query, for all waiting callers.
    case yours
  }

  private struct Question {
    var partitions: [TopicPartition]
    var timeout: Duration
    var asker: CheckedContinuation<Turn, Never>
  }

  private let ask: @Sendable ([TopicPartition], Duration) async throws(KafkaError) -> Answer
  private var waiting: [Question] = []
  private var isAsking = false

  /// - Parameter ask: Runs one query.
  init(_ ask: @escaping @Sendable ([TopicPartition], Duration) async throws(KafkaError) -> Answer) { self.ask = ask }

  /// The number of callers that wait for a running query.
  var waitingCount: Int { waiting.count }

  /// Returns the high watermarks of partitions, from a query that began after this call.
  func answer(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> Answer {
    if isAsking {
      let turn = await withCheckedContinuation { asker in
        waiting.append(Question(partitions: partitions, timeout: timeout, asker: asker))
      }
      if case .answered(let result) = turn { return try result.get() }
    }
    isAsking = true
    let others = waiting
    waiting = []
    let own = await result(partitions, timeout, others)
    if waiting.isEmpty { isAsking = false } else { waiting.removeFirst().asker.resume(returning: .yours) }
    return try own.get()
  }

  private func result(
    _ partitions: [TopicPartition], _ timeout: Duration, _ others: [Question]
  ) async -> Result<Answer, KafkaError> {
    let all = Set(others.flatMap(\.partitions) + partitions)
    let together = await asked(Array(all), others.map(\.timeout).reduce(timeout, max))
    guard !others.isEmpty else { return together }
    if case .success(let answer) = together {
      for question in others {
        let part = question.partitions.compactMap { partition in answer[partition].map { (partition, $0) } }
        question.asker.resume(returning: .answered(.success(Dictionary(part) { first, _ in first })))
      }
      return .success(answer.filter { Set(partitions).contains($0.key) })
    }
    // One caller's invalid partition must not fail the others.
    for question in others {
      question.asker.resume(returning: .answered(await asked(question.partitions, question.timeout)))
    }
    return await asked(partitions, timeout)
  }

  private func asked(_ partitions: [TopicPartition], _ timeout: Duration) async -> Result<Answer, KafkaError> {
    do throws(KafkaError) { return .success(try await ask(partitions, timeout)) } catch { return .failure(error) }
  }
}
