// A log whose readers get no records while a gate is closed, so a round can be prepared before it runs. Prefetching
// continues meanwhile, as in a C program that does not poll.
import KafkaClient
import MillraceWorker
import MillraceTesting
import Synchronization

/// A gate that the benchmark opens and closes.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
    var takers: [ObjectIdentifier: Task<Result<LogPage?, KafkaError>, Never>] = [:]
  }

  private let state = Mutex(State())

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Interrupts waiting readers, so that none takes the first record of the next round.
  func shut() {
    let takers = state.withLock { state in
      state.isOpen = false
      return Array(state.takers.values)
    }
    for taker in takers { taker.cancel() }
  }

  fileprivate func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  fileprivate func take(_ limit: Int, from partition: any LogPartition, as reader: GatedPartition)
    async -> Result<LogPage?, KafkaError>
  {
    let taker = Task { () -> Result<LogPage?, KafkaError> in
      do throws(KafkaError) { return .success(try await partition.nextPage(upTo: limit)) } catch {
        return .failure(error)
      }
    }
    let isOpen = state.withLock { state in
      state.takers[ObjectIdentifier(reader)] = taker
      return state.isOpen
    }
    if !isOpen { taker.cancel() }
    defer { state.withLock { _ = $0.takers.removeValue(forKey: ObjectIdentifier(reader)) } }
    return await withTaskCancellationHandler {
      await taker.value
    } onCancel: {
      taker.cancel()
      open()
    }
  }

  fileprivate var isShut: Bool { state.withLock { !$0.isOpen } }
}

struct GatedLog: ForwardingLog {
  let log: KafkaLog
  let gate: Gate

  func makeReader(group: String, topics: [String], options: LogReaderOptions) throws(KafkaError) -> any LogReader {
    GatedReader(reader: try log.makeReader(group: group, topics: topics, options: options), gate: gate)
  }
}

private struct GatedReader: LogReader {
  let reader: any LogReader
  let gate: Gate

  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable {
    let gate = gate
    return Gated(base: reader.events, gate: gate)
  }

  func run() async throws(KafkaError) {
    // A reader at the gate has to notice that it was closed, even if its task was cancelled.
    let result = await withTaskCancellationHandler {
      do throws(KafkaError) { return Result<Void, KafkaError>.success(try await reader.run()) } catch {
        return .failure(error)
      }
    } onCancel: {
      gate.open()
    }
    gate.open()
    try result.get()
  }
  func shutDown() {
    reader.shutDown()
    gate.open()
  }
  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) { try await reader.commit(offsets) }
  func committed(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> [CommittedOffset] {
    try await reader.committed(partitions, timeout: timeout)
  }
  func groupMetadata() async throws(KafkaError) -> GroupMetadata { try await reader.groupMetadata() }

  struct Gated: AsyncSequence, Sendable {
    typealias Element = LogReaderEvent
    typealias Failure = Never
    let base: any AsyncSequence<LogReaderEvent, Never> & Sendable
    let gate: Gate

    struct Iterator: AsyncIteratorProtocol {
      var base: any AsyncIteratorProtocol<LogReaderEvent, Never>
      let gate: Gate

      mutating func next() async -> LogReaderEvent? { await next(isolation: #isolation) }

      mutating func next(isolation actor: isolated (any Actor)?) async -> LogReaderEvent? {
        let event = await base.next(isolation: actor)
        guard case .assigned(let partitions)? = event else { return event }
        return .assigned(partitions.map { GatedPartition($0, gate) })
      }
    }

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), gate: gate) }
  }
}

private final class GatedPartition: LogPartition {
  private let base: any LogPartition
  private let gate: Gate

  init(_ base: any LogPartition, _ gate: Gate) {
    self.base = base
    self.gate = gate
  }

  var partition: TopicPartition { base.partition }

  func nextPage(upTo limit: Int) async throws(KafkaError) -> LogPage? {
    while true {
      await gate.pass()
      let page = try await gate.take(limit, from: base, as: self).get()
      if page != nil || !gate.isShut || Task.isCancelled { return page }
    }
  }
}
