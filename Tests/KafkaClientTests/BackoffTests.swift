import Testing

@testable import KafkaClient

struct BackoffTests {
  @Test func `each pause is twice as long as the one before, up to the longest`() {
    var backoff = Backoff(from: .seconds(1), upTo: .seconds(5))
    #expect(backoff.last == .zero)
    #expect((0..<5).map { _ in backoff.next() } == [1, 2, 4, 5, 5].map { Duration.seconds($0) })
    #expect(backoff.last == .seconds(5))
    backoff.reset()
    #expect(backoff.last == .zero)
    #expect(backoff.next() == .seconds(1))
  }
}
