import AppStoreSigning
import MillraceTime
import Testing

@testable import MillraceWorker

@Suite struct DrainTests {
  @Test func `without running handlers a drain commits and leaves`() {
    var drain = Drain(limit: .seconds(20))
    check(drain.begin(now: .second(0), handlers: 0) == [.stopTaking, .commit])
    check(drain.begin(now: .second(0), handlers: 0) == [])
    check(drain.committed() == [.leave])
    #expect(drain.hasLeft)
    check(drain.committed() == [])
  }

  @Test func `a drain commits when its handlers have finished`() {
    var drain = Drain(limit: .seconds(20))
    check(drain.begin(now: .second(0), handlers: 2) == [.stopTaking])
    #expect(drain.wakeAt == .second(15))
    check(drain.passed(now: .second(14.9)) == [])
    check(drain.handlersLeft(1) == [])
    check(drain.handlersLeft(0) == [.commit])
    #expect(drain.wakeAt == .second(20))
  }

  @Test func `a drain cancels handlers that hang and commits the other outcomes`() {
    var drain = Drain(limit: .seconds(20))
    _ = drain.begin(now: .second(0), handlers: 1)
    check(drain.passed(now: .second(15)) == [.cancelHandlers, .commit])
    check(drain.handlersLeft(0) == [], "the outcome arrives too late")
    check(drain.committed() == [.leave])
  }

  @Test func `a commit that hangs does not delay leaving`() {
    var drain = Drain(limit: .seconds(20))
    _ = drain.begin(now: .second(0), handlers: 0)
    check(drain.passed(now: .second(20)) == [.leave])
    #expect(drain.wakeAt == nil)
  }

  @Test func `a late timer performs all steps at once`() {
    var drain = Drain(limit: .zero)
    _ = drain.begin(now: .second(0), handlers: 1)
    check(drain.passed(now: .second(0)) == [.cancelHandlers, .commit, .leave])
  }

  @Test(arguments: 0..<500 as Range<UInt64>)
  func `a drain ends within its limit, with each step once and in order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = Int64.random(in: 0...60, using: &random)
    var drain = Drain(limit: .seconds(limit))
    var handlers = Int.random(in: 0...3, using: &random)
    var now = 0.0
    var actions = drain.begin(now: .second(0), handlers: handlers)
    while let wake = drain.wakeAt {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        handlers = max(0, handlers - 1)
        actions += drain.handlersLeft(handlers)
      case 1 where actions.contains(.commit): actions += drain.committed()
      case 2:
        now += 1
        actions += drain.passed(now: .second(now))
      default:
        now = max(now, Double(wake.elapsed.components.seconds) + 1)
        actions += drain.passed(now: .second(now))
      }
    }
    #expect(drain.hasLeft, "seed \(seed)")
    #expect(now <= Double(limit) + 2, "seed \(seed)")
    let order: [Drain.Action] = [.stopTaking, .cancelHandlers, .commit, .leave]
    #expect(actions == order.filter { actions.contains($0) }, "seed \(seed): \(actions)")
    #expect(actions.contains(.commit) && actions.contains(.leave), "seed \(seed)")
  }
}
