import AppStore
import AppStoreSigning
import MillraceWorker
import Testing

@testable import Consumption

@Suite struct ConsumptionDeadlineTests {
  private let signed = Timestamp(millisecondsSince1970: 1_700_000_000_000)

  @Test func `the plan counts from the signature and the final deadline from the receipt`() {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed + .seconds(600))
    #expect(deadline.planned == signed + .seconds(43_200))
    #expect(deadline.final == signed + .seconds(43_800))
    #expect(deadline.lateness(at: deadline.planned) == nil)
    #expect(deadline.lateness(at: deadline.planned + .seconds(60)) == .seconds(60))
    #expect(!deadline.isOver(at: deadline.planned + .seconds(60)))
    #expect(deadline.isOver(at: deadline.final))
    #expect(deadline.noticeAt == deadline.planned - .seconds(3_600))
  }

  @Test(arguments: [90, 86_400 * 30])
  func `a receipt before the signature does not shorten the time`(seconds: Int64) {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed - .seconds(seconds))
    #expect(deadline.planned == signed + .seconds(43_200) && deadline.final == deadline.planned)
  }

  @Test(arguments: [(0, 12), (48, 60), (157, 169), (158, 169), (402 * 24, 169)])
  func `a late receipt extends the time, up to Apple's last retry`(receivedAfter hours: Int64, endsAfter end: Int64) {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed + .seconds(hours * 3_600))
    #expect(deadline.planned == signed + .seconds(43_200))
    #expect(deadline.final == signed + .seconds(end * 3_600))
  }

  @Test func `without a signature both deadlines count from the receipt`() {
    let deadline = ConsumptionDeadline(signedDate: nil, receivedAt: signed)
    #expect(deadline.planned == signed + .seconds(43_200) && deadline.final == deadline.planned)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `attempts continue until the deadline, and none starts in the last moment`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed)
    var now = signed + .seconds(Int64.random(in: 0...43_200, using: &generator))
    var attempt = 0
    while true {
      let time = Duration.seconds(Int64.random(in: 0...50_000, using: &generator))
      let hint = [ConsumptionDeadline.RetryHint.none, .notBefore(time), .turn(in: time)].randomElement(
        using: &generator)
      guard case .again(let delay) = deadline.next(now: now, attempt: attempt, hint: hint ?? .none) else { break }
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
    (0, ConsumptionDeadline.RetryHint.none, 10), (1, .none, 60), (3, .none, 600), (900, .none, 600),
    (3, .notBefore(.seconds(30)), 600), (3, .notBefore(.seconds(3_600)), 3_600), (3, .turn(in: .seconds(30)), 30),
    (3, .turn(in: .zero), 10), (3, .turn(in: .seconds(90_000)), 42_900),
  ])
  func `the provider is asked on schedule, but a rate-limit slot is used when it is free`(
    _ attempt: Int, _ hint: ConsumptionDeadline.RetryHint, _ seconds: Int64
  ) {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed)
    #expect(deadline.next(now: signed, attempt: attempt, hint: hint) == .again(after: .seconds(seconds)))
  }

  @Test func `a missing answer is reported an hour before the end, or at once if none can come`() {
    let deadline = ConsumptionDeadline(signedDate: signed, receivedAt: signed)
    let eleven = signed + .seconds(39_600)
    #expect(deadline.notice(now: signed, hint: .none) == eleven)
    #expect(deadline.notice(now: signed, hint: .notBefore(.seconds(600))) == eleven)
    #expect(deadline.notice(now: signed, hint: .turn(in: .seconds(43_200))) == signed)
    #expect(deadline.notice(now: eleven + .seconds(60), hint: .none) == eleven + .seconds(60))
  }
}
