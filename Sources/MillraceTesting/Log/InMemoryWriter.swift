// Writers on the in-memory log.

internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

/// Counts calls in progress, so that a client ends only when the last call has its result.
final class WriterGate: Sendable {
  private struct State {
    var isClosing = false
    var underWay = 0
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func enter(_ operation: String) throws(KafkaError) {
    let isOpen = state.withLock { state in
      if !state.isClosing { state.underWay += 1 }
      return !state.isClosing
    }
    if !isOpen { throw .closed(operation) }
  }

  func exit() { settle { $0.underWay -= 1 } }
  func close() { settle { $0.isClosing = true } }

  /// Returns when the gate is closed and no call is in progress.
  func drained() async {
    await withCheckedContinuation { continuation in settle { $0.waiter = continuation } }
  }

  private func settle(_ change: (inout State) -> Void) {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      change(&state)
      guard state.isClosing, state.underWay == 0 else { return nil }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }
}

final class InMemoryWriter: LogWriter {
  private let host: BrokerHost
  private let process: ProcessID
  private let gate = WriterGate()

  init(host: BrokerHost, process: ProcessID) {
    self.host = host
    self.process = process
  }

  func run() async throws(KafkaError) {
    await withTaskCancellationHandler {
      await gate.drained()
    } onCancel: {
      gate.close()
    }
  }

  func shutDown() { gate.close() }
  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {}

  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    let operation = "send to \(record.topic)"
    try gate.enter(operation)
    defer { gate.exit() }
    let time = host.time
    return try await host.request(.send, topic: record.topic, of: process, operation) {
      broker, _ throws(KafkaError) in
      try broker.append(record, to: try broker.place(record), in: nil, time: time)
    }
  }
}
