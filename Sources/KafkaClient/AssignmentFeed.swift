internal import Synchronization

/// The changes of a consumer's assignment, in order, for one reader.
///
/// If the reader leaves its loop (by `break`, an error or cancellation), undelivered revocations are completed, so that
/// the group does not wait for them.
public struct ConsumerEvents: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = ConsumerEvent

  let feed: AssignmentFeed

  /// Returns the iterator of the only reader.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: feed.stream.makeAsyncIterator(), place: ReadersPlace(feed))
  }

  /// Iterates over the events.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<ConsumerEvent>.Iterator
    let place: ReadersPlace

    /// The next event; nil once the consumer is closed.
    public mutating func next() async -> ConsumerEvent? {
      let event = await base.next()
      if case .revoked(let revocation)? = event { place.feed.deliver(revocation) }
      return event
    }
  }
}

/// Lives as long as the reader's iterator, and tells the feed when the reader has left.
final class ReadersPlace: Sendable {
  let feed: AssignmentFeed
  init(_ feed: AssignmentFeed) { self.feed = feed }
  deinit { feed.readerLeft() }
}

/// Carries events from the poll loop to the reader and tracks undelivered revocations.
final class AssignmentFeed: Sendable {
  private struct State {
    var hasReaderLeft = false
    var undelivered: [ObjectIdentifier: PartitionRevocation] = [:]
  }

  let stream: AsyncStream<ConsumerEvent>
  private let sink: AsyncStream<ConsumerEvent>.Continuation
  private let state = Mutex(State())

  init() { (stream, sink) = AsyncStream.makeStream() }

  func send(_ event: ConsumerEvent) {
    if case .revoked(let revocation) = event {
      let hasReaderLeft = state.withLock { state in
        if !state.hasReaderLeft { state.undelivered[ObjectIdentifier(revocation)] = revocation }
        return state.hasReaderLeft
      }
      if hasReaderLeft { return revocation.complete() }
    }
    sink.yield(event)
  }

  func finish() { sink.finish() }

  func deliver(_ revocation: PartitionRevocation) {
    state.withLock { _ = $0.undelivered.removeValue(forKey: ObjectIdentifier(revocation)) }
  }

  func readerLeft() {
    let undelivered = state.withLock { state in
      state.hasReaderLeft = true
      defer { state.undelivered = [:] }
      return Array(state.undelivered.values)
    }
    for revocation in undelivered { revocation.complete() }
  }
}
