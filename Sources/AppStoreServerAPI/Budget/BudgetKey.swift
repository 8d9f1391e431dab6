// Whose budget: Apple counts per app, environment and endpoint.

public import AppStore

/// What one budget is for.
public struct BudgetKey: Sendable, Hashable, CustomStringConvertible {
  /// The app.
  public let bundleId: String
  /// Its environment.
  public let environment: AppStoreEnvironment
  /// The endpoint.
  public let endpoint: APIEndpoint

  /// The budget of an app at an endpoint.
  public init(bundleId: String, environment: AppStoreEnvironment, endpoint: APIEndpoint) {
    self.bundleId = bundleId
    self.environment = environment
    self.endpoint = endpoint
  }

  /// Endpoint, app, environment.
  public var description: String { "\(endpoint.rawValue) of \(bundleId) in \(environment)" }
}

/// Nobody calls for that app at that endpoint before a moment: what a 429 said, told to all who share the budget.
public struct BudgetPause: Sendable, Hashable {
  /// Whose budget.
  public let key: BudgetKey
  /// When calls may begin again, by the calendar.
  public let until: Timestamp

  /// A pause of that budget.
  public init(_ key: BudgetKey, until: Timestamp) {
    self.key = key
    self.until = until
  }
}

/// What was used of a budget, and what there is.
public struct BudgetUse: Sendable, Hashable {
  /// Whose budget.
  public var key: BudgetKey
  /// Turns taken since the process began.
  public var taken: UInt64
  /// Turns a second that this process has by now.
  public var perSecond: Double
  /// Callers that wait for their turn.
  public var waiting: Int
  /// Whether a 429 keeps calls back.
  public var isPaused: Bool
}

/// Why a turn was not given.
public enum BudgetError: Error, Sendable, Hashable {
  /// It would come too late for the caller's deadline; nil when there is no turn as things are, because no part of the
  /// budget is ours.
  case tooLate(turn: Timestamp?)
  /// The task was cancelled while it waited. Its place is free again.
  case cancelled
}
