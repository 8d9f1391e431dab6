// The body of Get Notification History.

internal import AppStore

/// The notifications that a caller requests.
struct NotificationHistoryQuery: Sendable, Hashable {
  let from: Timestamp
  let until: Timestamp
  let type: NotificationTypeV2?
  let subtype: Subtype?
  /// As received; selects one customer's notifications.
  let transactionId: String?
  let onlyFailures: Bool

  /// - Throws: Apple's error for the first invalid member.
  init(_ body: JSONObject, environment: AppStoreEnvironment, now: Timestamp) throws(APIFailure) {
    let request = NotificationHistoryRequest(json: body)
    try APIFailure.check(request.violations(in: environment, now: now), Self.failures)
    guard let from = request.startDate, let until = request.endDate else { throw .badRequest }
    self.from = from
    self.until = until
    type = request.notificationType
    subtype = request.notificationSubtype
    transactionId = request.transactionId
    onlyFailures = request.onlyFailures ?? false
  }

  private static let failures: [FieldFailure] = [
    FieldFailure("startDate", .invalidStartDate, [.notificationWindow: .startDateTooFarInPast]),
    FieldFailure("endDate", .invalidEndDate, [.endAfterStart: .startDateAfterEndDate]),
    FieldFailure("notificationType", .invalidNotificationType, [.oneFilter: .multipleFiltersSupplied]),
    FieldFailure("notificationSubtype", .invalidNotificationType),
    FieldFailure("transactionId", .invalidTransactionId),
  ]
}
