// Notifications of the past, and test notifications.

public import AppStore

/// A page of notifications (App Store Server API, `NotificationHistoryResponse`).
public struct NotificationHistoryPage<Item: Sendable>: APIPage {
  /// The notifications; verified where ``Item`` says so.
  public let items: [Item]
  /// Asks for the page after this one; expires, and holds for the same request only.
  public let paginationToken: String?
  /// Whether there is a page after this one now.
  public let hasMore: Bool

  /// The same as ``paginationToken``.
  public var cursor: String? { paginationToken }
}

/// A page of verified notifications.
public typealias NotificationPage = NotificationHistoryPage<SentNotification>

extension AppStoreServerClient {
  /// Get Notification History, page by page: version 2 notifications of the past 180 days, in the sandbox 30.
  ///
  /// - Parameters:
  ///   - request: The span of time and the filters; the same for every page.
  ///   - paginationToken: Where to begin; nil: at the first page.
  public func getNotificationHistory(
    _ request: NotificationHistoryRequest, after paginationToken: String? = nil, in environment: AppStoreEnvironment
  ) -> APIPages<NotificationPage> {
    historyPages(request, after: paginationToken, in: environment) { (reader, body) async throws(APIError) in
      var items: [SentNotification] = []
      let history = try reader.elements(body.notificationHistory, "notificationHistory", of: body.json)
      for (index, item) in history.enumerated() {
        items.append(
          try await reader.sentNotification(
            item.signedPayload, item.sendAttempts, of: item.json, "notificationHistory[\(index)].signedPayload"))
      }
      return items
    }
  }

  /// Get Notification History as it came, for those who judge each item by themselves: one that cannot be believed does
  /// not hide the others of its page. Otherwise like ``getNotificationHistory(_:after:in:)``.
  public func getUnverifiedNotificationHistory(
    _ request: NotificationHistoryRequest, after paginationToken: String? = nil, in environment: AppStoreEnvironment
  ) -> APIPages<NotificationHistoryPage<UnverifiedNotification>> {
    historyPages(request, after: paginationToken, in: environment) { (reader, body) throws(APIError) in
      switch body.json["notificationHistory"] {
      case nil, .null?: return []
      case .array(let items)?: return items.map { UnverifiedNotification(json: $0) }
      default: throw reader.undecodable("notificationHistory is not what is documented")
      }
    }
  }

  private func historyPages<Item>(
    _ request: NotificationHistoryRequest, after paginationToken: String?, in environment: AppStoreEnvironment,
    items: @escaping @Sendable (ResponseReader, NotificationHistoryResponse) async throws(APIError) -> [Item]
  ) -> APIPages<NotificationHistoryPage<Item>> {
    APIPages(environment: environment, start: paginationToken) { (token, _) throws(APIError) in
      let call = APICall(
        endpoint: .getNotificationHistory, environment: environment,
        path: ["inApps", "v1", "notifications", "history"],
        query: token.map { [QueryItem("paginationToken", $0)] } ?? [], body: request.serialized())
      // The window moves on while pages are read; what was inside at the first page is Apple's to judge at the others.
      let violations = token == nil ? request.violations(in: environment, now: runner.now) : []
      return try await self.call(call, violations: violations) { (reader) async throws(APIError) in
        let body = try reader.body(NotificationHistoryResponse.self)
        let items = try await items(reader, body)
        let hasMore = body.hasMore ?? false
        let next = try reader.cursor(body.paginationToken, hasMore: hasMore, asked: token, "paginationToken")
        return reader.response(
          NotificationHistoryPage(items: items, paginationToken: next, hasMore: hasMore), body.json)
      }
    }
  }

  /// Request a Test Notification: Apple posts a TEST to the URL set for this environment.
  ///
  /// - Returns: The token to ask ``getTestNotificationStatus(_:in:)`` with.
  public func requestTestNotification(
    in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<String> {
    let call = APICall(
      endpoint: .requestTestNotification, environment: environment, path: ["inApps", "v1", "notifications", "test"])
    return try await self.call(call) { (reader) async throws(APIError) in
      let body = try reader.body(SendTestNotificationResponse.self)
      return reader.response(try reader.required(body.testNotificationToken, "testNotificationToken"), body.json)
    }
  }

  /// Get Test Notification Status. Before the first attempt there is none: error 4040008.
  public func getTestNotificationStatus(
    _ testNotificationToken: String, in environment: AppStoreEnvironment
  ) async throws(APIError) -> APIResponse<SentNotification> {
    let call = APICall(
      endpoint: .getTestNotificationStatus, environment: environment,
      path: ["inApps", "v1", "notifications", "test", testNotificationToken])
    let violations = RequestParameter.testNotificationToken.violations(in: testNotificationToken)
    return try await self.call(call, violations: violations) { (reader) async throws(APIError) in
      let body = try reader.body(CheckTestNotificationResponse.self)
      let sent = try await reader.sentNotification(
        body.signedPayload, body.sendAttempts, of: body.json, "signedPayload")
      return reader.response(sent, body.json)
    }
  }
}
