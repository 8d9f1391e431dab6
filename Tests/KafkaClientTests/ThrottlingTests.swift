import Testing

@testable import KafkaClient

@Suite struct ThrottlingTests {
  @Test func `delays add up by broker until they are taken, and answers without delay do not count`() {
    let feed = ThrottleFeed()
    #expect(feed.take().isEmpty)
    feed.add("b:1", .milliseconds(40))
    feed.add("a:1", .milliseconds(5))
    feed.add("b:1", .milliseconds(60))
    feed.add("b:1", .zero)
    feed.add("c:1", .zero)
    #expect(
      feed.take() == [
        Throttling(broker: "a:1", delay: .milliseconds(5)), Throttling(broker: "b:1", delay: .milliseconds(100)),
      ])
    #expect(feed.take().isEmpty)
  }
}
