// The body of Get Notification History.

internal import AppStore
internal import AppStoreSigning

/// What a caller wants to see of the notifications.
struct NotificationHistoryQuery: Sendable, Hashable {
  let from: Timestamp
  let until: Timestamp
  let type: NotificationTypeV2?
  let subtype: Subtype?
  /// As it came; one customer's notifications.
  let transactionId: String?
  let onlyFailures: Bool

  /// How far back Apple's history goes.
  static func window(of environment: AppStoreEnvironment) -> Duration {
    .seconds((environment == .sandbox ? 30 : 180) * 86_400)
  }

  /// - Throws: Apple's error for the first member that is wrong.
  init(_ body: JSONObject, environment: AppStoreEnvironment, now: Timestamp) throws(APIFailure) {
    guard case .integer(let from) = body["startDate"], from >= 0 else { throw .invalidStartDate }
    guard case .integer(let until) = body["endDate"], until >= 0 else { throw .invalidEndDate }
    self.from = Timestamp(millisecondsSince1970: from)
    self.until = Timestamp(millisecondsSince1970: until)
    guard self.from < self.until else { throw .startDateAfterEndDate }
    guard self.from >= now - Self.window(of: environment) else { throw .startDateTooFarInPast }
    let type = try Self.text(body["notificationType"]).map { NotificationTypeV2(rawValue: $0) }
    let subtype = try Self.text(body["notificationSubtype"]).map { Subtype(rawValue: $0) }
    if type != nil || subtype != nil {
      let fits = SampleKind.all.contains { $0.type == type && (subtype == nil || $0.subtype == subtype) }
      guard fits else { throw .invalidNotificationType }
    }
    self.type = type
    self.subtype = subtype
    switch body["transactionId"] {
    case nil: transactionId = nil
    case .string(let id): transactionId = id
    default: throw .invalidTransactionId
    }
    guard type == nil || transactionId == nil else { throw .multipleFiltersSupplied }
    switch body["onlyFailures"] {
    case nil: onlyFailures = false
    case .bool(let flag): onlyFailures = flag
    default: throw .badRequest
    }
  }

  private static func text(_ value: JSON?) throws(APIFailure) -> String? {
    switch value {
    case nil: nil
    case .string(let text): text
    default: throw .invalidNotificationType
    }
  }
}
