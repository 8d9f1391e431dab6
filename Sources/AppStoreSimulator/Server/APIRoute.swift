// From method and path to an endpoint and its parameters.

internal import HTTPTypes

/// A request's endpoint with what its path says.
struct APIRoute: Sendable, Hashable {
  let endpoint: APIEndpoint
  /// The path's parameters in their order, percent-decoded.
  let parameters: [String]

  /// What a method and a path lead to.
  enum Match: Sendable, Hashable {
    case route(APIRoute)
    /// The path exists, for other methods.
    case wrongMethod(allowed: [String])
    case nothing
  }

  /// The endpoint for a path as it came, still percent-encoded. Where two fit, as for a transaction named `consumption`,
  /// a literal segment goes before a parameter.
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

  private static let patterns: [(endpoint: APIEndpoint, segments: [Substring])] = APIEndpoint.allCases.map {
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
