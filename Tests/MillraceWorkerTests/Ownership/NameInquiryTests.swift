// Tests when a static member takes another member of its name for a living process.

import AppStoreSigning
import MillraceTime
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite struct NameInquiryTests {
  private let session = Duration.seconds(18)
  private let other = InstanceHolder.another(member: "refunds-reader-b", host: "/10.0.0.1")

  private func at(_ seconds: Int) -> MillraceClock.Instant { MillraceClock.Instant(elapsed: .seconds(seconds)) }

  @Test(arguments: [InstanceHolder.thisReader, .nobody])
  func `a name of this process or of none is free at once`(holder: InstanceHolder) {
    var inquiry = NameInquiry(session: session)
    #expect(inquiry.answered(holder, now: at(0)) == .join)
  }

  @Test func `another process has the name once it has stayed for two sessions`() {
    var inquiry = NameInquiry(session: session)
    for second in 0...36 { #expect(inquiry.answered(other, now: at(second)) == .ask(after: NameInquiry.pause)) }
    #expect(inquiry.answered(other, now: at(37)) == .taken(host: "/10.0.0.1"))
  }

  @Test func `the member of a dead process leaves, and the name is free`() {
    var inquiry = NameInquiry(session: session)
    for second in 0...18 { #expect(inquiry.answered(other, now: at(second)) != .join) }
    #expect(inquiry.answered(.nobody, now: at(19)) == .join)
  }

  @Test func `a question without an answer starts the proof anew`() {
    var inquiry = NameInquiry(session: session)
    for second in 0...36 { #expect(inquiry.answered(other, now: at(second)) == .ask(after: NameInquiry.pause)) }
    _ = inquiry.failed()
    // The coordinator that is back has given the member a new session.
    for second in 100...136 { #expect(inquiry.answered(other, now: at(second)) == .ask(after: NameInquiry.pause)) }
    #expect(inquiry.answered(other, now: at(137)) == .taken(host: "/10.0.0.1"))
  }

  @Test func `the next process with the name starts the proof anew`() {
    var inquiry = NameInquiry(session: session)
    #expect(inquiry.answered(other, now: at(0)) == .ask(after: NameInquiry.pause))
    let next = InstanceHolder.another(member: "refunds-reader-c", host: "/10.0.0.2")
    for second in 1...37 { #expect(inquiry.answered(next, now: at(second)) == .ask(after: NameInquiry.pause)) }
    #expect(inquiry.answered(next, now: at(38)) == .taken(host: "/10.0.0.2"))
  }

  // Found by the simulation: three outages, each shorter than the time limit of a question, so that every question was
  // answered. The coordinator gave the member of the dead process a new session after each.
  @Test func `an answer that came late starts the proof anew`() {
    var inquiry = NameInquiry(session: session)
    for second in [0, 1, 10, 11, 12, 13, 14, 15, 16, 17, 25, 26, 27, 28, 37, 38] {
      #expect(inquiry.answered(other, now: at(second)) == .ask(after: NameInquiry.pause))
    }
    #expect(inquiry.answered(.nobody, now: at(56)) == .join)
  }

  @Test func `pauses without answers grow up to a limit, and an answer resets them`() {
    var inquiry = NameInquiry(session: session)
    let pauses = (0..<1_000).map { _ in inquiry.failed() }
    #expect(pauses.prefix(3) == [.ask(after: .seconds(1)), .ask(after: .seconds(2)), .ask(after: .seconds(3))])
    #expect(pauses.last == .ask(after: NameInquiry.longestPause))
    _ = inquiry.answered(other, now: at(0))
    #expect(inquiry.failed() == .ask(after: .seconds(1)))
  }

  /// Plays a coordinator that stops answering, forgets members at their session's end, and gives all members a new session
  /// when it is back. Once between two outages another broker takes over without the process noticing.
  @Test(arguments: UInt64(0)..<200)
  func `no sequence of outages takes the member of a dead process for a living one`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var inquiry = NameInquiry(session: session)
    var expiry = Duration.seconds(Int.random(in: 1...18, using: &random))
    var isAway = false
    var hasMoved = false
    var now = Duration.zero
    for _ in 0..<10_000 {
      if Int.random(in: 0..<12, using: &random) == 0 { isAway.toggle() }
      let next: NameInquiry.Next
      if isAway {
        next = inquiry.failed()
        expiry = now + session
        hasMoved = false
      } else {
        if !hasMoved, now < expiry, Int.random(in: 0..<6, using: &random) == 0 {
          expiry = now + session
          hasMoved = true
        }
        let holder = now < expiry ? other : .nobody
        next = inquiry.answered(holder, now: MillraceClock.Instant(elapsed: now))
        if holder == .nobody {
          #expect(next == .join, "seed \(seed)")
          return
        }
      }
      guard case .ask(let pause) = next else { return #expect(Bool(false), "seed \(seed): \(next)") }
      now += pause + .milliseconds(Int.random(in: 0...9_000, using: &random))
    }
  }
}
