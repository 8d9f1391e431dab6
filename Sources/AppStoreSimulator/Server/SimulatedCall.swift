// A request that was authenticated and routed: the app, the endpoint and the time.

internal import AppStore

/// The input of an endpoint.
struct SimulatedCall: Sendable {
  var endpoint: SimulatedEndpoint
  /// The path's parameters, in order.
  var parameters: [String]
  var bundleId: String
  var environment: AppStoreEnvironment
  var query: [(name: String, value: String)]
  var body: [UInt8]
  var now: Timestamp

  var subject: HourlyLimits.Subject {
    HourlyLimits.Subject(bundleId: bundleId, environment: environment, endpoint: endpoint)
  }

  /// The path's parameter, for endpoints with exactly one.
  var parameter: String { parameters.first ?? "" }

  /// All values of a query parameter.
  func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

  /// The value of a query parameter that must not be repeated.
  ///
  /// - Throws: `failure` if the parameter is repeated.
  func value(_ name: String, else failure: APIFailure) throws(APIFailure) -> String? {
    let values = values(name)
    guard values.count < 2 else { throw failure }
    return values.first
  }

  /// Parses the body as a JSON object.
  ///
  /// - Throws: ``APIFailure/badRequest`` if it is not one.
  func object() throws(APIFailure) -> JSONObject {
    do {
      return try JSONObject(parsing: body)
    } catch {
      throw .badRequest
    }
  }
}
