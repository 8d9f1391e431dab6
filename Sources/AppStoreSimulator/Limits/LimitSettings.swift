// How many requests an app may send, as settings: Apple's numbers are the defaults and may change at any time.

public import AppStore

/// Hourly limits of the simulated API.
public struct LimitSettings: Sendable, Hashable {
  /// Requests a second in production for each endpoint, enforced by the hour; an endpoint that is not here has no limit.
  public var perSecond: [APIEndpoint: Double]
  /// The sandbox's part of production's limits.
  public var sandboxFactor: Double
  /// What every limit is divided by. A rehearsal at rate 600 has 600 times less real time for the same hour: 600 here
  /// keeps the requests of a real second what they are.
  public var divisor: Double

  /// Apple's limits, or others.
  public init(
    perSecond: [APIEndpoint: Double] = LimitSettings.documented, sandboxFactor: Double = 0.1, divisor: Double = 1
  ) {
    self.perSecond = perSecond
    self.sandboxFactor = sandboxFactor
    self.divisor = divisor
  }

  /// What "Identifying rate limits" documents.
  public static let documented: [APIEndpoint: Double] = Dictionary(
    uniqueKeysWithValues: APIEndpoint.allCases.compactMap { endpoint in
      endpoint.documentedPerSecond.map { (endpoint, $0) }
    })

  /// No limits at all.
  public static let unlimited = LimitSettings(perSecond: [:])

  /// Requests an hour, at least one; nil for an endpoint without a limit.
  public func perHour(_ endpoint: APIEndpoint, in environment: AppStoreEnvironment) -> Int? {
    guard let perSecond = perSecond[endpoint] else { return nil }
    let factor = environment == .sandbox ? sandboxFactor : 1
    let perHour = (perSecond * factor * 3_600 / divisor + 1e-6).rounded(.down)
    return perHour.isFinite ? max(1, Int(min(perHour, 1e15))) : nil
  }
}
