// Maps a method and path to an endpoint and its parameters.

internal import HTTPTypes

/// An endpoint and the parameters in its path.
struct APIRoute: Sendable, Hashable {
  let endpoint: SimulatedEndpoint
  /// The path's parameters in order, percent-decoded.
  let parameters: [String]

  /// The result of matching a method and path.
  enum Match: Sendable, Hashable {
    case route(APIRoute)
    /// The path exists, but not for this method.
    case wrongMethod(allowed: [String])
    case nothing
  }

  /// Finds the endpoint for a percent-encoded path. If two endpoints match, as for a transaction named `consumption`, a
  /// literal segment takes precedence over a parameter.
  static func match(_ method: HTTPRequest.Method, path: String) -> Match {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    var best: (route: APIRoute, literals: Int)?
    var allowed: [String] = []
    for (endpoint, pattern) in patterns {
      guard let parameters = parameters(of: segments, in: pattern) else { continue }
      guard endpoint.method == method else {
        allowed.append(endpoint.method.rawValue)
        continue
      }
      let literals = segments.count - parameters.count
      if literals > best?.literals ?? -1 {
        best = (APIRoute(endpoint: endpoint, parameters: parameters), literals)
      }
    }
    if let best { return .route(best.route) }
    return allowed.isEmpty ? .nothing : .wrongMethod(allowed: allowed)
  }

  private static let patterns: [(endpoint: SimulatedEndpoint, segments: [Substring])] = SimulatedEndpoint.allCases.map {
    ($0, Array($0.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()))
  }

  private static func parameters(of segments: ArraySlice<Substring>, in pattern: [Substring]) -> [String]? {
    guard segments.count == pattern.count else { return nil }
    var parameters: [String] = []
    for (segment, expected) in zip(segments, pattern) {
      if expected.hasPrefix("{") {
        guard !segment.isEmpty, let parameter = PercentEncoding.decode(segment) else { return nil }
        parameters.append(parameter)
      } else if segment != expected {
        return nil
      }
    }
    return parameters
  }
}
