import AppStore
import Testing

@testable import AppStoreServerAPI

@Suite struct ExtensionCheckTests {
  private static let origin = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private static let end = Self.origin + .seconds(10 * 86_400)

  private static func period(
    _ id: String = "1", from begin: Timestamp = Self.origin - .seconds(20 * 86_400), to end: Timestamp? = end
  ) -> JWSTransactionDecodedPayload {
    var transaction = JWSTransactionDecodedPayload()
    transaction.transactionId = id
    transaction.purchaseDate = begin
    transaction.expiresDate = end
    return transaction
  }

  private static func judge(_ present: JWSTransactionDecodedPayload?, days: Int = 7) -> ExtensionCheck {
    ExtensionCheck.judge(before: period(), present: present, days: days)
  }

  private static func days(_ days: Double) -> Duration { .milliseconds(Int64(days * 86_400_000)) }

  @Test func `a period that ends the given days later was extended`() {
    let later = Self.end + Self.days(7)
    #expect(Self.judge(Self.period(to: later)) == .applied(later))
    #expect(Self.judge(Self.period(to: later + .seconds(3_600))) == .applied(later + .seconds(3_600)))
  }

  @Test func `a period with an unchanged end was not extended`() {
    #expect(Self.judge(Self.period()) == .notApplied)
  }

  @Test(arguments: [1.0, 3, 6.9, 14, -1]) func `a period that moved otherwise is inconclusive`(days: Double) {
    guard case .cannotTell = Self.judge(Self.period(to: Self.end + Self.days(days))) else {
      Issue.record("\(days)")
      return
    }
  }

  @Test func `the start of the next period shows where the previous one ended`() {
    func next(_ begin: Timestamp) -> ExtensionCheck {
      Self.judge(Self.period("2", from: begin, to: begin + Self.days(30)))
    }
    #expect(next(Self.end) == .notApplied && next(Self.end - Self.days(0.9)) == .notApplied)
    #expect(next(Self.end + Self.days(7)) == .applied(nil) && next(Self.end + Self.days(6.5)) == .applied(nil))
    // Billing retry: it renewed days after either end.
    for begin in [Self.end + Self.days(3), Self.end + Self.days(12)] {
      guard case .cannotTell = next(begin) else {
        Issue.record("\(begin)")
        continue
      }
    }
  }

  @Test(arguments: [
    // Renewed twice without an extension: a week after the end, as with an extension.
    (period: 7.0, days: 7, begin: 7.0), (period: 7, days: 7, begin: 6.5), (period: 7, days: 14, begin: 14),
    (period: 7, days: 28, begin: 28), (period: 30, days: 30, begin: 30), (period: 30, days: 29, begin: 28.5),
    (period: 31, days: 28, begin: 28), (period: 30, days: 90, begin: 89.5), (period: 61, days: 60, begin: 60),
    // Minutes, as in the sandbox.
    (period: 5.0 / 1_440, days: 7, begin: 7),
  ])
  func `a shift that several plain renewals also explain is inconclusive`(period: Double, days: Int, begin: Double) {
    func judge(before: Double, present: Double) -> ExtensionCheck {
      let begin = Self.end + Self.days(begin)
      return ExtensionCheck.judge(
        before: Self.period(from: Self.end - Self.days(before)),
        present: Self.period("2", from: begin, to: begin + Self.days(present)), days: days)
    }
    // Another extension may have changed either period.
    for (before, present) in [(period, period), (period, period + 9), (period + 9, period)] {
      guard case .cannotTell = judge(before: before, present: present) else {
        Issue.record("periods of \(before) and \(present) days")
        continue
      }
    }
  }

  @Test(arguments: [
    (period: 7.0, days: 3, begin: 3.0), (period: 30, days: 7, begin: 6.5), (period: 365, days: 90, begin: 90),
  ])
  func `a shift that no number of plain renewals explains is an extension`(period: Double, days: Int, begin: Double) {
    let begin = Self.end + Self.days(begin)
    let check = ExtensionCheck.judge(
      before: Self.period(from: Self.end - Self.days(period)),
      present: Self.period("2", from: begin, to: begin + Self.days(period)), days: days)
    #expect(check == .applied(nil))
  }

  @Test func `a one-day extension and an early renewal are indistinguishable`() {
    let begin = Self.end
    let present = Self.period("2", from: begin, to: begin + Self.days(30))
    guard case .cannotTell = Self.judge(present, days: 1) else {
      Issue.record("a plain renewal at the end, and an early renewal of the extended period")
      return
    }
  }

  @Test func `missing data is inconclusive`() {
    for present in [nil, Self.period(to: nil), JWSTransactionDecodedPayload()] {
      guard case .cannotTell = Self.judge(present) else {
        Issue.record("\(String(describing: present))")
        continue
      }
    }
    guard case .cannotTell = ExtensionCheck.judge(before: Self.period(to: nil), present: Self.period(), days: 7) else {
      Issue.record("no previous end")
      return
    }
  }
}
