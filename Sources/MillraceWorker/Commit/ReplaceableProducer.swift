// A transactional producer whose clients can be replaced. All of its clients have one transactional id, so a new client
// fences the one before it, and brokers refuse every request of the old one that arrives late.
//
// The owner decides when a client is replaced, because only the owner knows which outcomes are in doubt. See ADR 56.

internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

/// One client after another with the same transactional id.
final class ReplaceableProducer: TransactionalLogWriter {
  /// The reason to replace a client, which is the metric label `cause`.
  enum Cause: String, Sendable, Hashable, CaseIterable {
    /// A request ended without an answer. It may arrive late, so the client must not begin another transaction.
    case unanswered
    /// The brokers know a newer epoch: a late request to initialize arrived, the transaction timed out, or another
    /// process uses the id.
    case fenced
    /// Another fatal error of the client, such as a lost sequence after a Produce request without an answer.
    case fatal
  }

  private struct State {
    var client: any TransactionalLogWriter
    var number = 0
    var isShutDown = false
    /// The error that ended the current client, if one did.
    var failure: KafkaError?
    var topics: [String] = []
    var whenClientFails: @Sendable () -> Void = {}
  }

  private typealias Served = (number: Int, client: any TransactionalLogWriter)

  private let makeClient: @Sendable () throws(KafkaError) -> any TransactionalLogWriter
  private let state: Mutex<State>
  private let (clients, feed) = AsyncStream.makeStream(of: Served.self)

  /// - Parameter makeClient: Creates a client, without waiting for a connection.
  init(_ makeClient: @escaping @Sendable () throws(KafkaError) -> any TransactionalLogWriter) throws(KafkaError) {
    self.makeClient = makeClient
    let first = try makeClient()
    state = Mutex(State(client: first))
    feed.yield((0, first))
  }

  private var client: any TransactionalLogWriter { state.withLock(\.client) }

  /// The cause for which the client must be replaced before it begins another transaction; nil if it may begin one.
  var replacementCause: Cause? {
    let (failure, client) = state.withLock { ($0.failure, $0.client) }
    #if PLANTED_FAULTS
      if PlantedFault.lateRequests.isActive(changing: failure == nil && client.hasUnansweredRequest) {
        return failure.flatMap { ProducerLoss($0)?.reason == .fenced ? .fenced : .fatal }
      }
    #endif
    guard let failure else { return client.hasUnansweredRequest ? .unanswered : nil }
    return ProducerLoss(failure)?.reason == .fenced ? .fenced : .fatal
  }

  /// The error that ended the current client; nil if it can be used.
  var failure: KafkaError? { state.withLock(\.failure) }

  /// Sets the function that is called when a client ends with an error.
  func whenClientFails(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenClientFails = body } }

  /// Records that a call failed with an error that ends the client.
  func failed(_ error: KafkaError) { state.withLock { $0.failure = $0.failure ?? error } }

  /// Puts a new client in the place of the current one. Call ``initialize(timeout:)`` next.
  /// - Throws: `KafkaError` if the client cannot be created; `closed` after ``shutDown()``.
  func replaceClient() throws(KafkaError) {
    let next = try makeClient()
    let replaced = state.withLock { state -> (number: Int, client: any TransactionalLogWriter)? in
      guard !state.isShutDown else { return nil }
      defer { (state.client, state.failure) = (next, nil) }
      state.number += 1
      return (state.number, state.client)
    }
    guard let replaced else {
      throw KafkaError(code: .closed, operation: "replace a client", reason: "the producer is shut down")
    }
    replaced.client.shutDown()
    feed.yield((replaced.number, next))
  }

  /// Looks up the topics of ``prepare(_:timeout:)`` with the current client.
  func prepareAgain(timeout: Duration) async throws(KafkaError) {
    let (client, topics) = state.withLock { ($0.client, $0.topics) }
    try await client.prepare(topics, timeout: timeout)
  }

  // MARK: - The current client

  /// Serves every client until it has its outcomes. An error that ends a client is the cause to replace it.
  func run() async throws(KafkaError) {
    await withDiscardingTaskGroup { group in
      for await served in clients { group.addTask { await self.serve(served) } }
    }
  }

  private func serve(_ served: Served) async {
    do throws(KafkaError) {
      try await served.client.run()
    } catch {
      let notify = state.withLock { state -> (@Sendable () -> Void)? in
        guard state.number == served.number else { return nil }
        state.failure = state.failure ?? error
        return state.whenClientFails
      }
      notify?()
    }
  }

  func shutDown() {
    let client = state.withLock { state in
      state.isShutDown = true
      return state.client
    }
    feed.finish()
    client.shutDown()
  }

  var hasUnansweredRequest: Bool { client.hasUnansweredRequest }

  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {
    state.withLock { $0.topics = topics }
    try await client.prepare(topics, timeout: timeout)
  }

  func initialize(timeout: Duration) async throws(KafkaError) { try await client.initialize(timeout: timeout) }
  func begin() async throws(KafkaError) { try await client.begin() }
  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition { try await client.send(record) }

  func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    try await client.send(contentsOf: records)
  }

  func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError) {
    try await client.sendOffsets(offsets, group: group, timeout: timeout)
  }

  func commit(timeout: Duration) async throws(KafkaError) { try await client.commit(timeout: timeout) }
  func abort(timeout: Duration) async throws(KafkaError) { try await client.abort(timeout: timeout) }
}
