// One request that passed the gate: who asks, what, and when.

internal import AppStore

/// What an endpoint works on.
struct APICall: Sendable {
  var endpoint: APIEndpoint
  /// The path's parameters.
  var parameters: [String]
  var bundleId: String
  var environment: AppStoreEnvironment
  var query: [(name: String, value: String)]
  var body: [UInt8]
  var now: Timestamp

  var subject: HourlyLimits.Subject {
    HourlyLimits.Subject(bundleId: bundleId, environment: environment, endpoint: endpoint)
  }

  /// The path's parameter, of endpoints that have one.
  var parameter: String { parameters.first ?? "" }

  /// Every value of a query parameter.
  func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

  /// The value of a query parameter that may come once.
  /// - Throws: `failure` when it comes more often.
  func value(_ name: String, else failure: APIFailure) throws(APIFailure) -> String? {
    let values = values(name)
    guard values.count < 2 else { throw failure }
    return values.first
  }

  /// The body as an object.
  /// - Throws: ``APIFailure/badRequest`` for anything else.
  func object() throws(APIFailure) -> JSONObject {
    do {
      return try JSONObject(parsing: body)
    } catch {
      throw .badRequest
    }
  }
}
