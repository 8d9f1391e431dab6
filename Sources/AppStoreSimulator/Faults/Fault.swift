// What can go wrong between a caller and Apple, on request.

public import AppStore

/// A fault that spoils some requests.
public struct Fault: Sendable, Hashable {
  /// The endpoints it strikes; nil: all.
  public var endpoints: Set<APIEndpoint>?
  /// The app it strikes; nil: all.
  public var bundleId: String?
  /// The environment it strikes; nil: both.
  public var environment: AppStoreEnvironment?
  /// The first moment at which it strikes; nil: from the beginning.
  public var from: Timestamp?
  /// The moment from which it strikes no more; nil: never.
  public var until: Timestamp?
  /// How many requests it strikes at most; nil: no bound.
  public var count: Int?
  /// The part of the requests that it strikes, above 0 and at most 1.
  public var share: Double
  /// What it does.
  public var effect: FaultEffect

  /// A fault; without further arguments it strikes every request.
  public init(
    _ effect: FaultEffect, endpoints: Set<APIEndpoint>? = nil, bundleId: String? = nil,
    environment: AppStoreEnvironment? = nil, from: Timestamp? = nil, until: Timestamp? = nil, count: Int? = nil,
    share: Double = 1
  ) {
    self.effect = effect
    self.endpoints = endpoints
    self.bundleId = bundleId
    self.environment = environment
    self.from = from
    self.until = until
    self.count = count
    self.share = share
  }
}

/// What a fault does to a request.
public enum FaultEffect: Sendable, Hashable {
  /// The answer comes that much later, in the time of the simulator's clock.
  case latency(Duration)
  /// An error status instead of an answer; nothing happened.
  case failure(status: Int, body: FailureBody)
  /// 429 although no limit is reached; nothing happened.
  case tooManyRequests(RetryAfter)
  /// 401, as for a token that is not accepted; nothing happened.
  case unauthorized
  /// The connection is reset before anything happened.
  case connectionReset
  /// What was asked for happened, and the answer breaks off after that part of its body.
  case truncatedBody(share: Double)
  /// What was asked for happened, and the connection is reset instead of an answer.
  case answerLost

  /// The body of a failure.
  public enum FailureBody: Sendable, Hashable {
    /// No body.
    case empty
    /// A gateway's page.
    case html
    /// Apple's error object.
    case json(code: Int64, message: String)
  }

  /// How a 429 says when to come again.
  public enum RetryAfter: Sendable, Hashable {
    /// UNIX time in milliseconds, so much from now: what Apple documents.
    case milliseconds(from: Duration)
    /// Seconds from now, as HTTP has it.
    case seconds(Int64)
    /// A date, as HTTP also has it, so much from now.
    case date(from: Duration)
    /// Not at all.
    case absent
  }
}
