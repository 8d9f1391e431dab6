import AppStore
import Testing

@testable import AppStoreSimulator

/// Limits as a reference type, because expectations cannot call mutating methods.
private final class Limits {
  private(set) var limits: HourlyLimits

  init(_ settings: LimitSettings) { limits = HourlyLimits(settings) }

  func count(_ subject: HourlyLimits.Subject, now: Timestamp) -> HourlyLimits.Decision {
    limits.count(subject, now: now)
  }
}

@Suite struct HourlyLimitsTests {
  private func subject(
    _ endpoint: SimulatedEndpoint = .massExtendRenewalDate, _ environment: AppStoreEnvironment = .production,
    app: String = "com.example.app"
  ) -> HourlyLimits.Subject {
    HourlyLimits.Subject(bundleId: app, environment: environment, endpoint: endpoint)
  }

  @Test func `production has the documented limit and the sandbox a tenth`() {
    let settings = LimitSettings()
    #expect(settings.perHour(.getTransactionInfo, in: .production) == 180_000)
    #expect(settings.perHour(.getTransactionInfo, in: .sandbox) == 18_000)
    #expect(settings.perHour(.massExtendRenewalDate, in: .sandbox) == 360)
    #expect(settings.perHour(.getMassExtendStatus, in: .production) == nil)
  }

  @Test func `a divisor divides the limit to at least one`() {
    #expect(LimitSettings(divisor: 600).perHour(.getTransactionInfo, in: .production) == 300)
    #expect(LimitSettings(divisor: 1e9).perHour(.getTransactionInfo, in: .production) == 1)
    #expect(LimitSettings(perSecond: [:]).perHour(.getTransactionInfo, in: .production) == nil)
  }

  @Test func `the hour's last request is admitted, and the next gets the end of the hour`() {
    let limits = Limits(LimitSettings())
    let start = Timestamp.newYear + .seconds(1_234)
    for _ in 0..<3_600 { #expect(limits.count(subject(), now: start) == .admitted) }
    let end = Timestamp.newYear + .seconds(3_600)
    #expect(limits.count(subject(), now: start) == .refused(until: end, announcedBefore: false))
    #expect(limits.count(subject(), now: end - .milliseconds(1)) == .refused(until: end, announcedBefore: true))
    #expect(limits.count(subject(), now: end) == .admitted)
  }

  @Test func `apps, environments and endpoints have separate limits`() {
    let limits = Limits(LimitSettings(perSecond: [.massExtendRenewalDate: 1.0 / 3_600, .lookUpOrderId: 1.0 / 3_600]))
    #expect(limits.count(subject(), now: .newYear) == .admitted)
    #expect(limits.count(subject(), now: .newYear) != .admitted)
    #expect(limits.count(subject(.lookUpOrderId), now: .newYear) == .admitted)
    #expect(limits.count(subject(.massExtendRenewalDate, .sandbox), now: .newYear) == .admitted)
    #expect(limits.count(subject(app: "com.example.other"), now: .newYear) == .admitted)
  }

  @Test func `the fullest hour is recorded`() {
    let limits = Limits(LimitSettings())
    for _ in 0..<7 { _ = limits.count(subject(), now: .newYear) }
    for _ in 0..<3 { _ = limits.count(subject(), now: .newYear + .seconds(3_600)) }
    #expect(limits.limits.fullest[subject()] == HourlyLimits.Usage(hour: .newYear, admitted: 7, refused: 0))
    #expect(limits.limits.current[subject()]?.admitted == 3)
  }

  @Test func `a clock that is set back does not renew an hour`() {
    let limits = Limits(LimitSettings(perSecond: [.massExtendRenewalDate: 1.0 / 3_600]))
    #expect(limits.count(subject(), now: .newYear) == .admitted)
    #expect(limits.count(subject(), now: .newYear - .seconds(1)) != .admitted)
  }
}
