import AppStore
import AppStoreSigning
import Testing

@testable import MillraceWorker

@Suite struct RetryScheduleTests {
  private let schedule = RetrySchedule(
    delays: [.seconds(10), .seconds(60), .seconds(600), .seconds(3_600), .seconds(21_600)], maximumAttempts: 12)

  @Test(arguments: [(1, 0, 10), (2, 1, 60), (3, 2, 600), (4, 3, 3_600), (5, 4, 21_600), (11, 4, 21_600)])
  func `without a requested delay the retry delays follow each other`(attempt: Int, delayIndex: Int, seconds: Int64) {
    let decision = schedule.decide(.init(attempt: attempt, began: .second(0)), now: .second(1))
    #expect(decision == .delay(delayIndex: delayIndex, due: .second(1 + seconds)))
  }

  @Test(arguments: [
    (0, 0, 10), (9, 0, 10), (10, 0, 10), (59, 0, 59), (60, 1, 60), (1_500, 2, 1_500), (90_000, 4, 90_000),
  ])
  func `a requested delay uses the largest retry delay that fits`(wish: Int64, delayIndex: Int, wait: Int64) {
    let run = RetrySchedule.FailedRun(attempt: 1, began: .second(0), requested: .seconds(wish))
    #expect(schedule.decide(run, now: .second(0)) == .delay(delayIndex: delayIndex, due: .second(wait)))
  }

  @Test func `the last attempt becomes a dead letter`() {
    let run = RetrySchedule.FailedRun(attempt: 12, began: .second(0), requested: .seconds(10))
    #expect(schedule.decide(run, now: .second(0)) == .deadLetter(.attemptsExhausted))
  }

  @Test func `a retry delay that ends after the deadline is not used`() {
    let run = RetrySchedule.FailedRun(attempt: 4, began: .second(0), deadline: .second(700))
    #expect(schedule.decide(run, now: .second(0)) == .delay(delayIndex: 2, due: .second(700)))
  }

  @Test func `a record that would miss its deadline runs once more at once, then becomes a dead letter`() {
    let first = RetrySchedule.FailedRun(attempt: 1, began: .second(80), deadline: .second(100))
    #expect(schedule.decide(first, now: .second(95)) == .runNow)
    let second = RetrySchedule.FailedRun(attempt: 2, began: .second(95), deadline: .second(100))
    #expect(schedule.decide(second, now: .second(96)) == .deadLetter(.deadlineMissed))
    let late = RetrySchedule.FailedRun(attempt: 1, began: .second(80), deadline: .second(100))
    #expect(schedule.decide(late, now: .second(100)) == .deadLetter(.deadlineMissed))
  }

  @Test(
    arguments: [
      // Without a deadline: at the expected time, at least after the shortest delay.
      (107, 95, nil, .delay(delayIndex: 0, due: .second(110))),
      (175, 95, nil, .delay(delayIndex: 1, due: .second(175))),
      // A rate-limit slot may be free earlier than expected, so the record returns by its deadline.
      (175, 95, 140, .delay(delayIndex: 0, due: .second(140))),
      (175, 95, 175, .delay(delayIndex: 1, due: .second(175))),
      // No retry delay ends before the deadline: the record waits in the lane once if that helps.
      (107, 95, 108, .runNow), (107, 99, 108, .deadLetter(.deadlineMissed)),
      (109, 95, 108, .deadLetter(.deadlineMissed)),
      (107, 80, 100, .deadLetter(.deadlineMissed)),
    ] as [(Int64, Int64, Int64?, RetrySchedule.Decision)])
  func `a wait for a rate-limit slot ends by the deadline`(
    turn: Int64, began: Int64, deadline: Int64?, decision: RetrySchedule.Decision
  ) {
    let deadline = deadline.map { Timestamp.second($0) }
    #expect(
      schedule.wait(until: .second(turn), began: .second(began), deadline: deadline, now: .second(100)) == decision)
  }

  @Test func `a long wait passes through several retry delays`() {
    #expect(
      schedule.step(delayIndex: 2, appended: .second(0), due: .second(1_500), deadline: nil)
        == .move(at: .second(600), delayIndex: 2))
    #expect(
      schedule.step(delayIndex: 2, appended: .second(600), due: .second(1_500), deadline: nil)
        == .move(at: .second(1_200), delayIndex: 1))
    #expect(
      schedule.step(delayIndex: 1, appended: .second(1_200), due: .second(1_260), deadline: nil)
        == .run(at: .second(1_260)))
  }

  @Test func `a remainder below the shortest delay is rounded up, unless the deadline forbids it`() {
    #expect(
      schedule.step(delayIndex: 1, appended: .second(0), due: .second(63), deadline: nil)
        == .move(at: .second(60), delayIndex: 0))
    #expect(
      schedule.step(delayIndex: 1, appended: .second(0), due: .second(63), deadline: .second(69))
        == .run(at: .second(60)))
  }

  @Test func `invalid retry delays are ignored, and at least one is used`() {
    #expect(
      RetrySchedule(delays: [.seconds(5), .zero, .seconds(-1), .seconds(1)], maximumAttempts: 0).delays == [
        .seconds(1), .seconds(5),
      ])
    let empty = RetrySchedule(delays: [], maximumAttempts: 0)
    #expect(empty.delays == [.seconds(10)])
    #expect(empty.maximumAttempts == 1)
  }

  @Test(arguments: 0..<1_000 as Range<UInt64>)
  func `a record is never early, at most the shortest delay late, never delayed past its deadline`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let wish = Int64.random(in: 0...100_000, using: &random)
    let deadline = Bool.random(using: &random) ? Int64.random(in: 1...120_000, using: &random) : nil
    var now: Int64 = 0
    let run = RetrySchedule.FailedRun(
      attempt: 1, began: .second(0), requested: .seconds(wish), deadline: deadline.map { .second($0) })
    guard case .delay(var delayIndex, let due) = schedule.decide(run, now: .second(0)) else {
      #expect(deadline.map { $0 < 10 } == true, "seed \(seed)")
      return
    }
    for hop in 0..<1_000 {
      #expect(hop < 100, "seed \(seed): no end")
      // The append and the wake-up take some time.
      now += Int64.random(in: 0...1, using: &random)
      let appended = Timestamp.second(now)
      switch schedule.step(delayIndex: delayIndex, appended: appended, due: due, deadline: deadline.map { .second($0) })
      {
      case .run(let time):
        #expect(time >= appended + .seconds(10), "seed \(seed): before its delay ended")
        let asked = Timestamp.second(max(wish, 10))
        if deadline == nil {
          #expect(time >= asked, "seed \(seed): early")
          #expect(time <= asked + .seconds(10 + 2 * (hop + 1)), "seed \(seed): late")
        }
        return
      case .move(let time, let next):
        #expect(time >= appended + schedule.delays[delayIndex], "seed \(seed): moved early")
        if let deadline { #expect(time + schedule.delays[next] <= .second(deadline), "seed \(seed)") }
        now = (time.millisecondsSince1970 - Timestamp.second(0).millisecondsSince1970) / 1_000
        delayIndex = next
      }
    }
  }
}

extension RetrySchedule {
  /// The schedule of a policy with these delays.
  init(delays: [Duration], maximumAttempts: Int) {
    var policy = WorkerPolicy()
    policy.retryDelays = delays
    policy.maximumAttempts = maximumAttempts
    self.init(policy)
  }
}
