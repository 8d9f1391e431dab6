// An OCSP responder behind a transport. It counts requests, and fails or hangs on demand.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Synchronization

/// Answers in the process, with a responder of the test's chain.
final class FakeResponder: OCSPTransport {
  struct Outage: Error {}

  typealias Answer = @Sendable (_ request: [UInt8], _ call: Int) async throws -> [UInt8]

  private let answer: Answer
  private let count = Mutex(0)
  private let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation

  init(_ answer: @escaping Answer) {
    self.answer = answer
    (arrivals, arrived) = AsyncStream.makeStream()
  }

  /// Answers from `responder`, valid from `thisUpdate` until `nextUpdate`.
  static func answering(
    _ responder: OCSPResponder, thisUpdate: Timestamp = testDate, nextUpdate: Timestamp = testDate + .seconds(43_200)
  ) -> FakeResponder {
    FakeResponder { request, _ in
      try responder.respond(to: request, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
    }
  }

  /// The number of requests so far.
  var calls: Int { count.withLock { $0 } }

  /// Returns when the first request has started.
  func firstCall() async {
    for await _ in arrivals { return }
  }

  func query(_ request: [UInt8], url: String) async throws -> [UInt8] {
    let call = count.withLock { count in
      count += 1
      return count
    }
    arrived.yield()
    return try await answer(request, call)
  }

  /// Never answers, and ends when its task is cancelled.
  static func hang() async throws -> [UInt8] {
    await untilCancelled()
    throw Outage()
  }
}

/// Waits until the task is cancelled, without a clock.
func untilCancelled() async {
  let (stream, continuation) = AsyncStream<Void>.makeStream()
  for await _ in stream {}
  withExtendedLifetime(continuation) {}
}
