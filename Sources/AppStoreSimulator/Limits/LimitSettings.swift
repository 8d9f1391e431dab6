// The request limits. The defaults are Apple's numbers, which may change at any time.

package import AppStore

/// Hourly limits of the simulated API.
package struct LimitSettings: Sendable, Hashable {
  /// The production limit of each endpoint in requests per second, enforced by the hour. An endpoint without an entry
  /// has no limit.
  package var perSecond: [SimulatedEndpoint: Double]
  /// The sandbox's share of the production limits.
  package var sandboxFactor: Double
  /// Divides every limit. At a clock rate of 600, an hour has 600 times less real time. A divisor of 600 keeps the
  /// number of requests per real second.
  package var divisor: Double

  /// Limits. The defaults are Apple's.
  package init(
    perSecond: [SimulatedEndpoint: Double] = LimitSettings.documented, sandboxFactor: Double = 0.1, divisor: Double = 1
  ) {
    self.perSecond = perSecond
    self.sandboxFactor = sandboxFactor
    self.divisor = divisor
  }

  /// The limits in "Identifying rate limits".
  package static let documented: [SimulatedEndpoint: Double] = Dictionary(
    uniqueKeysWithValues: SimulatedEndpoint.allCases.compactMap { endpoint in
      endpoint.documentedPerSecond.map { (endpoint, $0) }
    })

  /// The limit in requests per hour, at least one; nil if the endpoint has none.
  package func perHour(_ endpoint: SimulatedEndpoint, in environment: AppStoreEnvironment) -> Int? {
    guard let perSecond = perSecond[endpoint] else { return nil }
    let factor = environment == .sandbox ? sandboxFactor : 1
    let perHour = (perSecond * factor * 3_600 / divisor + 1e-6).rounded(.down)
    return perHour.isFinite ? max(1, Int(min(perHour, 1e15))) : nil
  }
}
