// Tests which timers of an outcome are set at the first run and at later runs of a notification.

import AppStore
import Testing

@testable import MillraceWorker

@Suite struct OutcomeTimersTests {
  private static let began = Timestamp(millisecondsSince1970: 1_000_000)

  private static func timer(_ name: String, _ seconds: Int?) -> Outcome.Timer {
    Outcome.Timer(name: name, at: seconds.map { began + .seconds($0) })
  }

  private static let all = [timer("past", -1), timer("now", 0), timer("future", 1), timer("withdrawn", nil)]
  private static let unfired = Array(all.dropFirst())

  @Test(arguments: [
    // The first run, or a requeued dead letter: overdue timers fire at once.
    (OutcomePlan.Ending.done, UInt32?.none, all), (.delayed(delayIndex: 0, reason: "r"), nil, all),
    (.dead(reason: "r"), nil, all),
    // A later run with the same outcome, another outcome, or no outcome yet.
    (.done, 7, unfired), (.done, 8, all), (.delayed(delayIndex: 0, reason: "r"), 7, unfired),
    (.delayed(delayIndex: 0, reason: "r"), 8, unfired), (.dead(reason: "r"), 8, unfired),
  ])
  func `in a later run overdue timers count as fired unless the outcome differs`(
    ending: OutcomePlan.Ending, replacing: UInt32?, expected: [Outcome.Timer]
  ) {
    let plan = OutcomePlan(ending: ending, timers: Self.all, digest: 7)
    #expect(plan.timers(replacing: replacing, began: Self.began) == expected)
  }

  @Test(arguments: [nil, 7, 8] as [UInt32?])
  func `the last setting of a timer counts`(replacing: UInt32?) {
    let late = Self.timer("t", -1)
    let plan = OutcomePlan(
      ending: .done, timers: [Self.timer("t", nil), Self.timer("u", 1), late, Self.timer("u", 2)], digest: 7)
    // The timer is cancelled, then set to a past time. In a later run it is left out, so a pending timer stays.
    let expected = [late, Self.timer("u", 2)].filter { replacing != 7 || $0 != late }
    #expect(plan.timers(replacing: replacing, began: Self.began) == expected)
  }
}
