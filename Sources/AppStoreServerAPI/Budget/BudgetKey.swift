// Identifies a budget: Apple counts requests per app, environment and endpoint.

public import AppStore

/// The app, environment and endpoint of a budget.
public struct BudgetKey: Sendable, Hashable, CustomStringConvertible {
  /// The bundle identifier of the app.
  public let bundleId: String
  /// The environment.
  public let environment: AppStoreEnvironment
  /// The endpoint.
  public let endpoint: APIEndpoint

  /// The budget of an app at an endpoint.
  public init(bundleId: String, environment: AppStoreEnvironment, endpoint: APIEndpoint) {
    self.bundleId = bundleId
    self.environment = environment
    self.endpoint = endpoint
  }

  /// The endpoint, app and environment.
  public var description: String { "\(endpoint.rawValue) of \(bundleId) in \(environment)" }
}

/// A pause of a budget after a 429. All processes that share the budget make no calls until it ends.
public struct BudgetPause: Sendable, Hashable {
  /// The paused budget.
  public let key: BudgetKey
  /// The time at which calls may resume, in wall-clock time.
  public let until: Timestamp

  /// A pause of that budget.
  public init(_ key: BudgetKey, until: Timestamp) {
    self.key = key
    self.until = until
  }
}

/// The usage of a budget.
public struct BudgetUse: Sendable, Hashable {
  /// The budget.
  public var key: BudgetKey
  /// The number of slots taken since the process started.
  public var taken: UInt64
  /// The rate that this process currently has, in requests per second.
  public var perSecond: Double
  /// The number of callers that are waiting for a slot.
  public var waiting: Int
  /// Whether calls are paused after a 429.
  public var isPaused: Bool
  /// Whether Apple refused the tokens of the last call with 401.
  public var isRefused: Bool
}

/// The reason a caller received no slot.
public enum BudgetError: Error, Sendable, Hashable {
  /// The slot would come too late for the caller. `turn` is nil if this process has no share of the budget.
  case tooLate(turn: Timestamp?)
  /// The task was cancelled while it waited. Its place in the queue is free again.
  case cancelled
}
