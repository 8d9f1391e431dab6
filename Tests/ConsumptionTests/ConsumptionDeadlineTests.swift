import AppStore
import AppStoreSigning
import Millrace
import Testing

@testable import Consumption

@Suite struct ConsumptionDeadlineTests {
  private let signed = Timestamp(millisecondsSince1970: 1_700_000_000_000)

  @Test func `the plan counts from the signature and the end from the receipt`() {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed + .seconds(600))
    #expect(deadline.planned == signed + .seconds(43_200))
    #expect(deadline.final == signed + .seconds(43_800))
    #expect(deadline.lateness(at: deadline.planned) == nil)
    #expect(deadline.lateness(at: deadline.planned + .seconds(60)) == .seconds(60))
    #expect(!deadline.isOver(at: deadline.planned + .seconds(60)))
    #expect(deadline.isOver(at: deadline.final))
    #expect(deadline.noticeAt == deadline.planned - .seconds(3_600))
  }

  @Test func `a clock of Apple's that is ahead moves nothing`() {
    let deadline = ConsumptionDeadline(signedDate: signed + .seconds(90), receivedAt: signed)
    #expect(deadline.planned == deadline.final)
  }

  @Test func `without a signature the receipt counts`() {
    let deadline = ConsumptionDeadline(signedDate: nil, receivedAt: signed)
    #expect(deadline.planned == signed + .seconds(43_200) && deadline.final == deadline.planned)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `attempts go on until the end leaves no time, and none begins in the last moment`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed)
    var now = signed + .seconds(Int64.random(in: 0...43_200, using: &generator))
    var attempt = 0
    while true {
      let time = Duration.seconds(Int64.random(in: 0...50_000, using: &generator))
      let wish = [ConsumptionDeadline.Wish.none, .notBefore(time), .turn(in: time)].randomElement(using: &generator)
      guard case .again(let delay) = deadline.next(now: now, attempt: attempt, wish: wish ?? .none) else { break }
      #expect(delay >= .seconds(10), "seed \(seed)")
      now = now + delay
      attempt += 1
      #expect(now <= deadline.final - ConsumptionDeadline.lastMoment, "seed \(seed)")
    }
    #expect(
      deadline.final - now < ConsumptionDeadline.lastMoment + .seconds(10), "seed \(seed): gave up with time left")
    #expect(attempt <= ConsumptionWorker.policy.maximumAttempts, "seed \(seed)")
  }

  @Test(arguments: [
    (0, ConsumptionDeadline.Wish.none, 10), (1, .none, 60), (3, .none, 600), (900, .none, 600),
    (3, .notBefore(.seconds(30)), 600), (3, .notBefore(.seconds(3_600)), 3_600), (3, .turn(in: .seconds(30)), 30),
    (3, .turn(in: .zero), 10), (3, .turn(in: .seconds(90_000)), 42_900),
  ])
  func `nobody is asked sooner than the schedule says, but a turn at Apple is taken when it comes`(
    _ attempt: Int, _ wish: ConsumptionDeadline.Wish, _ seconds: Int64
  ) {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed)
    #expect(deadline.next(now: signed, attempt: attempt, wish: wish) == .again(after: .seconds(seconds)))
  }

  @Test func `a missing answer is reported an hour before the end, at once where nobody will answer before it`() {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed)
    let eleven = signed + .seconds(39_600)
    #expect(deadline.notice(now: signed, wish: .none) == eleven)
    #expect(deadline.notice(now: signed, wish: .notBefore(.seconds(600))) == eleven)
    #expect(deadline.notice(now: signed, wish: .turn(in: .seconds(43_200))) == signed)
    #expect(deadline.notice(now: eleven + .seconds(60), wish: .none) == eleven + .seconds(60))
  }
}
