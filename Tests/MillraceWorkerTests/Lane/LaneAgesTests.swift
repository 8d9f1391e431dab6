import AppStore
import Testing

@testable import MillraceWorker

@Suite struct LaneAgesTests {
  private func time(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: seconds * 1_000) }

  @Test func `the age of a lane is that of its oldest unfinished record in any source`() {
    var ages = LaneAges()
    #expect(ages.oldest == nil)
    ages.take(SourcePosition(topic: "a", offset: 3), since: time(30))
    ages.take(SourcePosition(topic: "a", offset: 5), since: time(50))
    ages.take(SourcePosition(topic: "b", offset: 1), since: time(40))
    #expect(ages.oldest == time(30))
    ages.finish([SourcePosition(topic: "a", offset: 3), SourcePosition(topic: "b", offset: 1)])
    #expect(ages.oldest == time(30))
    ages.finish([SourcePosition(topic: "a", offset: 5)])
    #expect(ages.oldest == time(40))
    ages.finish([SourcePosition(topic: "b", offset: 9), SourcePosition(topic: "none", offset: 9)])
    #expect(ages.oldest == time(50))
    ages.finish([SourcePosition(topic: "a", offset: 6)])
    #expect(ages.oldest == nil)
  }
}
