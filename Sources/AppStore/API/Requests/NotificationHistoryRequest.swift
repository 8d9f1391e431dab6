// A request for past notifications.

extension NotificationHistoryRequest {
  /// Creates a request for all notifications in a time range; set the filters afterwards. It is not checked yet: see
  /// ``violations(in:now:)``.
  public init(
    startDate: Timestamp, endDate: Timestamp
  ) {
    self.init()
    self.startDate = startDate
    self.endDate = endDate
  }
}
