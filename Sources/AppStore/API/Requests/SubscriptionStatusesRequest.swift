// A request for a customer's subscriptions, sent as a query.

/// The query of Get All Subscription Statuses (App Store Server API).
public struct SubscriptionStatusesRequest: Sendable, Hashable {
  /// Selects subscriptions with one of these statuses; empty for all.
  public var statuses: [Status]

  /// Creates a request for subscriptions with one of these statuses, or for all.
  public init(statuses: [Status] = []) { self.statuses = statuses }

  /// The query, in the order of ``statuses``.
  public var queryItems: [QueryItem] { statuses.map { QueryItem("status", "\($0.rawValue)") } }
}
