import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct NotificationHistoryQueryTests {
  private static let now = Timestamp.newYear.millisecondsSince1970
  private static let day: Int64 = 86_400_000
  private static let body: JSONObject = ["startDate": .integer(now - day), "endDate": .integer(now)]

  private func failure(
    _ changes: [(String, JSON?)], _ environment: AppStoreEnvironment = .production
  ) -> APIFailure? {
    do throws(APIFailure) {
      _ = try NotificationHistoryQuery(
        changes.reduce(Self.body) { $0.with($1.0, $1.1) }, environment: environment, now: .newYear)
      return nil
    } catch {
      return error
    }
  }

  static let cases: [(changes: [(String, JSON?)], failure: APIFailure?)] = [
    ([], nil), ([("startDate", nil)], .invalidStartDate), ([("startDate", "1")], .invalidStartDate),
    ([("endDate", nil)], .invalidEndDate), ([("endDate", .integer(now - day))], .startDateAfterEndDate),
    ([("startDate", .integer(now - 180 * day))], nil),
    ([("startDate", .integer(now - 180 * day - 1))], .startDateTooFarInPast),
    ([("notificationType", "REFUND")], nil), ([("notificationType", "EXPLODED")], .invalidNotificationType),
    ([("notificationType", 1)], .invalidNotificationType),
    ([("notificationType", "SUBSCRIBED"), ("notificationSubtype", "INITIAL_BUY")], nil),
    ([("notificationType", "REFUND"), ("notificationSubtype", "INITIAL_BUY")], .invalidNotificationType),
    ([("notificationSubtype", "INITIAL_BUY")], nil),
    ([("notificationSubtype", "EXPLODED")], .invalidNotificationType),
    ([("transactionId", "x")], nil), ([("transactionId", "../x")], .invalidTransactionId),
    ([("transactionId", "2000000123456789")], nil), ([("transactionId", 2)], .invalidTransactionId),
    ([("transactionId", "2"), ("notificationType", "REFUND")], .multipleFiltersSupplied),
    ([("onlyFailures", true)], nil), ([("onlyFailures", "true")], .badRequest),
  ]

  @Test(arguments: cases.indices)
  func `the constraints of NotificationHistoryRequest`(index: Int) {
    #expect(failure(Self.cases[index].changes) == Self.cases[index].failure, "\(Self.cases[index].changes)")
  }

  @Test func `the sandbox keeps thirty days`() {
    #expect(failure([("startDate", .integer(Self.now - 30 * Self.day))], .sandbox) == nil)
    #expect(failure([("startDate", .integer(Self.now - 30 * Self.day - 1))], .sandbox) == .startDateTooFarInPast)
  }
}
