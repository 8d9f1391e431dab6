// The endpoints for the notification history and test notifications.

public import AppStore

/// A page of notifications (App Store Server API, `NotificationHistoryResponse`).
public struct NotificationHistoryPage<Item: Sendable>: APIPage {
  /// The notifications. The type of ``Item`` says whether they are verified.
  public let items: [Item]
  /// Requests the next page. It expires, and is valid for the same request only.
  public let paginationToken: String?
  /// Whether there are more pages at present.
  public let hasMore: Bool

  /// The same as ``paginationToken``.
  public var cursor: String? { paginationToken }
}

/// A page of verified notifications.
public typealias NotificationPage = NotificationHistoryPage<SentNotification>

extension AppStoreServerClient {
  /// Get Notification History, as pages: version 2 notifications of the past 180 days, or 30 days in the sandbox.
  ///
  /// - Parameters:
  ///   - request: The time range and filters, which are the same for every page.
  ///   - paginationToken: The token to start after; nil for the first page.
  public func getNotificationHistory(
    _ request: NotificationHistoryRequest, after paginationToken: String? = nil, in environment: AppStoreEnvironment
  ) -> APIPages<NotificationPage> {
    historyPages(request, after: paginationToken, in: environment) { (reader, body) async throws(APIError) in
      var items: [SentNotification] = []
      let history = try reader.elements(
        NotificationHistoryResponseItem.self, "notificationHistory", of: body.json)
      for (element, item) in history {
        let sent = try await reader.item { () async throws(APIError) in
          try await reader.sentNotification(element.signedPayload, of: element.json, item + ".signedPayload")
        }
        if let sent { items.append(sent) }
      }
      return items
    }
  }

  /// Get Notification History without verification, for callers that verify each item themselves. An invalid item then
  /// does not hide the others on its page. Otherwise like ``getNotificationHistory(_:after:in:)``.
  public func getUnverifiedNotificationHistory(
    _ request: NotificationHistoryRequest, after paginationToken: String? = nil, in environment: AppStoreEnvironment
  ) -> APIPages<NotificationHistoryPage<UnverifiedNotification>> {
    historyPages(request, after: paginationToken, in: environment) { (reader, body) throws(APIError) in
      switch body.json["notificationHistory"] {
      case nil, .null?: return []
      case .array(let items)?: return items.map { UnverifiedNotification(json: $0) }
      default: throw reader.undecodable("notificationHistory is not as documented")
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
      // The time window moves while pages are read. Only the first page is checked here; Apple checks the others.
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

  /// Request a Test Notification: Apple posts a TEST notification to the URL of this environment.
  ///
  /// - Returns: The token for ``getTestNotificationStatus(_:in:)``.
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

  /// Get Test Notification Status. Before the first delivery attempt, Apple responds with error 4040008.
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
        body.signedPayload, of: body.json, "signedPayload")
      return reader.response(sent, body.json)
    }
  }
}
