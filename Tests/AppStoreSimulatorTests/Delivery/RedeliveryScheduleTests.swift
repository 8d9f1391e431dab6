import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct RedeliveryScheduleTests {
  @Test
  func `version 2 retries after 1, 12, 24, 48 and 72 hours, version 1 after 6, 24 and 48, the sandbox never`() {
    func hours(_ version: NotificationVersion, _ environment: AppStoreEnvironment) -> [Int64] {
      let schedule = RedeliverySchedule(version, in: environment)
      return (1...10).compactMap { schedule.wait(afterAttempts: $0).map { $0.components.seconds / 3_600 } }
    }
    #expect(hours(.v2, .production) == [1, 12, 24, 48, 72])
    #expect(hours(.v1, .production) == [6, 24, 48])
    #expect(hours(.v2, .sandbox) == [])
    #expect(hours(.v1, .sandbox) == [])
    #expect(RedeliverySchedule(.v2, in: .production).wait(afterAttempts: 0) == nil)
  }
}
