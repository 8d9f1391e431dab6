// The events of a simulated reader. When the loop over them ends, its revocations complete at once. `KafkaConsumer` does the
// same. Otherwise the group would wait for them.

internal import KafkaClient
internal import MillraceRecords

final class ReaderFeed: @unchecked Sendable {
  fileprivate let stream: AsyncStream<LogReaderEvent>
  private let sink: AsyncStream<LogReaderEvent>.Continuation
  private var undelivered: [PartitionRevocation] = []
  private var hasLoopEnded = false

  init() { (stream, sink) = AsyncStream.makeStream() }

  func yield(_ event: LogReaderEvent) {
    if case .revoked(let revocation) = event {
      if hasLoopEnded { return revocation.complete() }
      undelivered.append(revocation)
    }
    sink.yield(event)
  }

  func finish() { sink.finish() }

  fileprivate func delivered(_ event: LogReaderEvent?) {
    if case .revoked(let revocation)? = event { undelivered.removeAll { $0 === revocation } }
  }

  fileprivate func loopEnded() {
    hasLoopEnded = true
    let left = undelivered
    undelivered = []
    for revocation in left { revocation.complete() }
  }
}

struct ReaderEvents: AsyncSequence, Sendable {
  let feed: ReaderFeed

  func makeAsyncIterator() -> Iterator { Iterator(base: feed.stream.makeAsyncIterator(), loop: Loop(feed)) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<LogReaderEvent>.Iterator
    fileprivate let loop: Loop

    mutating func next() async -> LogReaderEvent? {
      let event = await base.next()
      loop.feed.delivered(event)
      return event
    }
  }

  /// Lives as long as the loop.
  fileprivate final class Loop: Sendable {
    let feed: ReaderFeed
    init(_ feed: ReaderFeed) { self.feed = feed }
    deinit { feed.loopEnded() }
  }
}
