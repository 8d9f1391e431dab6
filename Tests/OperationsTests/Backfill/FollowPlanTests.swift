import AppStore
import AppStoreServerAPI
import MillraceTime
import Testing

@testable import Operations

@Suite("The requests of --follow")
struct FollowPlanTests {
  private let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private let settings = FollowSettings()

  @Test("the first start looks back over Apple's whole retry period, in pieces")
  func first() {
    let plan = FollowPlan(.production, after: nil, now: now, settings)
    #expect(
      plan.isSweep && plan.spans.first?.lowerBound == now - settings.lookBack && plan.spans.last?.upperBound == now)
    #expect(plan.spans.count == 32)
    for (one, next) in zip(plan.spans, plan.spans.dropFirst()) { #expect(one.upperBound == next.lowerBound) }
  }

  @Test("later passes cover the time since the last one, with an overlap for late failures")
  func next() {
    let mark = FollowMark(through: now - .seconds(300), sweptAt: now - .seconds(3_600))
    let plan = FollowPlan(.production, after: mark, now: now, settings)
    #expect(!plan.isSweep && plan.spans == [(now - .seconds(3_900))..<now])
    #expect(plan.mark(after: plan.spans[0], mark, startedAt: now) == FollowMark(through: now, sweptAt: mark.sweptAt))
  }

  @Test("a sweep covers Apple's whole retry period every six hours, and only its last piece records it")
  func sweep() {
    let mark = FollowMark(through: now - .seconds(300), sweptAt: now - .seconds(6 * 3_600))
    let plan = FollowPlan(.production, after: mark, now: now, settings)
    #expect(plan.isSweep && plan.spans.first?.lowerBound == now - settings.lookBack)
    let early = plan.mark(after: plan.spans[0], mark, startedAt: now)
    // Pieces do not move the mark, and an interrupted sweep starts again.
    #expect(early.through == mark.through && early.sweptAt == mark.sweptAt)
    let late = plan.mark(after: plan.spans[plan.spans.count - 1], early, startedAt: now)
    #expect(late == FollowMark(through: now, sweptAt: now))
  }

  @Test("a longer absence is covered from its start, as far back as Apple keeps history")
  func absence() {
    let mark = FollowMark(through: now - .seconds(20 * 86_400), sweptAt: now - .seconds(20 * 86_400))
    #expect(
      FollowPlan(.production, after: mark, now: now, settings).spans.first?.lowerBound == mark.through
        - settings.overlap)
    let old = FollowMark(through: now - .seconds(40 * 86_400), sweptAt: now)
    let sandbox = FollowPlan(.sandbox, after: old, now: now, settings).spans.first?.lowerBound
    #expect(sandbox == now - NotificationHistoryRequest.window(of: .sandbox) + .seconds(3_600))
    #expect(
      NotificationHistoryRequest(startDate: sandbox ?? now, endDate: now).violations(in: .sandbox, now: now).isEmpty)
  }

  @Test("known items are remembered, and a full memory drops the oldest")
  func seen() {
    func item(_ number: Int) -> UnverifiedNotification {
      UnverifiedNotification(json: .object(["signedPayload": .string("\(number)")]))
    }
    var seen = SeenItems(capacity: 10)
    for number in 0..<100 { seen.insert(item(number)) }
    for number in 95..<100 { seen.insert(item(number)) }
    #expect(seen.count == 10)
    #expect((0..<100).filter { seen.contains(item($0)) } == Array(90..<100))
    let odd = UnverifiedNotification(json: "no object")
    seen.insert(odd)
    #expect(seen.contains(odd) && odd.jws == nil)
  }
}
