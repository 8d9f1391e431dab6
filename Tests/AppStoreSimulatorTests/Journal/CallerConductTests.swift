import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct CallerConductTests {
  private let subject = HourlyLimits.Subject(
    bundleId: "com.example.app", environment: .production, endpoint: .extendSubscriptionRenewalDate)

  @Test func `a request is too early between the grace period and the named time`() {
    var conduct = CallerConduct(grace: .seconds(10))
    #expect(!conduct.isTooEarly(subject, now: .newYear))
    conduct.pause(subject, until: .newYear + .seconds(100), now: .newYear)
    let early = [0, 10, 11, 99, 100].map { conduct.isTooEarly(subject, now: .newYear + .seconds($0)) }
    #expect(early == [false, false, true, true, false])
  }

  @Test func `a second 429 of the same pause does not renew the grace period`() {
    var conduct = CallerConduct(grace: .seconds(10))
    conduct.pause(subject, until: .newYear + .seconds(100), now: .newYear)
    conduct.pause(subject, until: .newYear + .seconds(100), now: .newYear + .seconds(50))
    #expect(conduct.isTooEarly(subject, now: .newYear + .seconds(55)))
  }

  @Test func `only a permanent refusal of a call with an effect is remembered`() {
    var conduct = CallerConduct(grace: .zero)
    let body = Array("{}".utf8)
    conduct.remember(.subscriptionMaxExtension, subject, path: "/a", body: body)
    #expect(conduct.finalAnswer(subject, path: "/a", body: body) == 4_030_005)
    #expect(conduct.finalAnswer(subject, path: "/b", body: body) == nil)
    #expect(conduct.finalAnswer(subject, path: "/a", body: []) == nil)
    conduct.remember(.originalTransactionIdNotFound, subject, path: "/b", body: body)
    conduct.remember(.generalInternal, subject, path: "/b", body: body)
    #expect(conduct.finalAnswer(subject, path: "/b", body: body) == nil)
    var reading = subject
    reading.endpoint = .getTransactionInfo
    conduct.remember(.invalidTransactionId, reading, path: "/a", body: [])
    #expect(conduct.finalAnswer(reading, path: "/a", body: []) == nil)
  }
}
