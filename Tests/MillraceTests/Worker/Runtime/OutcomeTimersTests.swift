// Which of an outcome's timers are set, where its notification is handled first and where it is run again.

import AppStore
import Testing

@testable import Millrace

@Suite struct OutcomeTimersTests {
  private static let began = Timestamp(millisecondsSince1970: 1_000_000)

  private static func timer(_ name: String, _ seconds: Int?) -> Outcome.Timer {
    Outcome.Timer(name: name, at: seconds.map { began + .seconds($0) })
  }

  private static let all = [timer("past", -1), timer("now", 0), timer("future", 1), timer("withdrawn", nil)]
  private static let unfired = Array(all.dropFirst())

  @Test(arguments: [
    // First handled, or a dead letter that was requeued: what is late fires at once.
    (OutcomePlan.Ending.done, UInt32?.none, all), (.parked(tier: 0, reason: "r"), nil, all),
    (.dead(reason: "r"), nil, all),
    // Run again: the same outcome, another one, none yet.
    (.done, 7, unfired), (.done, 8, all), (.parked(tier: 0, reason: "r"), 7, unfired),
    (.parked(tier: 0, reason: "r"), 8, unfired), (.dead(reason: "r"), 8, unfired),
  ])
  func `run again, what is late is taken to have fired unless the notification is done otherwise`(
    ending: OutcomePlan.Ending, replacing: UInt32?, expected: [Outcome.Timer]
  ) {
    let plan = OutcomePlan(ending: ending, timers: Self.all, digest: 7)
    #expect(plan.timers(replacing: replacing, began: Self.began) == expected)
  }

  @Test(arguments: [nil, 7, 8] as [UInt32?])
  func `the last word about a timer counts`(replacing: UInt32?) {
    let late = Self.timer("t", -1)
    let plan = OutcomePlan(
      ending: .done, timers: [Self.timer("t", nil), Self.timer("u", 1), late, Self.timer("u", 2)], digest: 7)
    // Withdrawn first, and set to a time that is over: nothing is said about it then, so that one that waits stays.
    let expected = [late, Self.timer("u", 2)].filter { replacing != 7 || $0 != late }
    #expect(plan.timers(replacing: replacing, began: Self.began) == expected)
  }
}
