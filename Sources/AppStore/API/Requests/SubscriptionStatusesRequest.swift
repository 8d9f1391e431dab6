// Which of a customer's subscriptions are asked for: a query, not a body.

/// The query of Get All Subscription Statuses (App Store Server API).
public struct SubscriptionStatusesRequest: Sendable, Hashable {
  /// Only subscriptions in one of these states; all when empty.
  public var statuses: [Status]

  /// All of a customer's subscriptions, or those in one of these states.
  public init(statuses: [Status] = []) { self.statuses = statuses }

  /// The query, in the order of ``statuses``.
  public var queryItems: [QueryItem] { statuses.map { QueryItem("status", "\($0.rawValue)") } }
}
