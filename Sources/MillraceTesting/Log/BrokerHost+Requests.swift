// How clients talk to the broker: through a delay, past a pause, into a fault.

internal import Clocks
internal import Kafka

extension BrokerHost {
  /// The time a request takes. Cancelling the caller ends the wait, not the request.
  func delay() async {
    let latency = update { broker, _ in broker.latency }
    guard latency > .zero else { return }
    do { try await clock.sleep(until: clock.now.advanced(by: latency)) } catch {}
  }

  /// Carries out a client's request, or the fault that waits for it. As with Kafka, what is on its way is not withdrawn
  /// by cancelling the caller.
  func request<Value: Sendable>(
    _ kind: LogOperation, topic: String?, of process: ProcessID, _ operation: String,
    _ body: (inout InMemoryBroker, Duration) throws(KafkaError) -> Value
  ) async throws(KafkaError) -> Value {
    await delay()
    let answer = try await answer { broker, now throws(KafkaError) -> Answer<Value> in
      if let wait = try broker.obstacle(for: process, operation) { return .after(wait) }
      guard let fault = broker.takeFault(kind, topic: topic, of: process) else { return .now(try body(&broker, now)) }
      if fault.reach == .unacknowledged { _ = try body(&broker, now) }
      throw fault.error
    }
    guard let answer else {
      throw KafkaError(code: .purged, operation: operation, reason: "cancelled while the process stood still")
    }
    return answer
  }

  /// An answer inside a time limit.
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
      // Cancelled: the caller gets what a client gives whose time is over.
    }
    throw .timedOut(operation)
  }
}

extension InMemoryBroker {
  /// What keeps a process from being served: nil where nothing does.
  func obstacle(for process: ProcessID, _ operation: String) throws(KafkaError) -> LogChange? {
    try checkAlive(process, operation)
    return processes[process]?.isPaused == true ? .process(process) : nil
  }

  func checkAlive(_ process: ProcessID, _ operation: String) throws(KafkaError) {
    if processes[process]?.isDead == true { throw .closed(operation) }
  }
}
