// Requests of clients: they are delayed by the latency, blocked by a pause, and fail with an injected fault.

internal import MillraceTime
internal import KafkaClient

extension BrokerHost {
  /// Waits for the latency of a request. Cancelling the caller ends the wait, not the request.
  func delay() async {
    let latency = update { broker, _ in
      if broker.latency > .zero { broker.delayedRequests += 1 }
      return broker.latency
    }
    guard latency > .zero else { return }
    do { try await clock.sleep(until: clock.now.advanced(by: latency)) } catch {}
    update { broker, _ in broker.delayedRequests -= 1 }
  }

  /// Executes a client's request, or throws the fault that waits for it. As with Kafka, cancelling the caller does not
  /// withdraw a request that has been sent.
  /// - Parameter unanswered: Called if the fault hides the answer.
  func request<Value: Sendable>(
    _ kind: LogOperation, topic: String?, of process: ProcessID, _ operation: String,
    unanswered: () -> Void = {},
    _ body: (inout InMemoryBroker, Duration) throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    await delay()
    let answer = try await answer { broker, now throws(KafkaError) -> Answer<Value> in
      if let wait = try broker.obstacle(for: process, operation) { return .after(wait) }
      guard let fault = broker.takeFault(kind, topic: topic, of: process) else { return .now(try body(&broker, now)) }
      if fault.isWithoutAnswer { unanswered() }
      if fault.reach == .unacknowledged { _ = try body(&broker, now) }
      throw fault.error
    }
    guard let answer else {
      throw KafkaError(code: .purged, operation: operation, reason: "cancelled while the process was paused")
    }
    return answer
  }

  /// Returns an answer within a time limit.
  func limited<Value: Sendable>(
    to timeout: Duration, _ operation: String,
    _ body: @escaping @Sendable (inout InMemoryBroker, Duration) throws(KafkaError) -> Answer<Value>
  ) async throws(KafkaError) -> Value {
    do {
      let answer = try await clock.result(within: timeout) { try await self.answer(body) }
      if case .some(.some(let value)) = answer { return value }
    } catch let error as KafkaError {
      throw error
    } catch {
      // Cancelled: the caller gets a timeout error, as from a Kafka client.
    }
    throw .timedOut(operation)
  }
}

extension InMemoryBroker {
  /// Returns the change that a blocked process waits for; nil if it is not blocked.
  func obstacle(for process: ProcessID, _ operation: String) throws(KafkaError) -> LogChange? {
    try checkAlive(process, operation)
    return processes[process]?.isPaused == true ? .process(process) : nil
  }

  func checkAlive(_ process: ProcessID, _ operation: String) throws(KafkaError) {
    if processes[process]?.isDead == true { throw .closed(operation) }
  }
}
