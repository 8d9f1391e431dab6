import AppStore

@testable import AppStoreSimulator

extension SimulatedCall {
  /// A call of the example app at the start of 2026.
  static func test(
    _ endpoint: SimulatedEndpoint, _ parameters: [String] = [], query: [(name: String, value: String)] = [],
    body: JSONObject? = nil, environment: AppStoreEnvironment = .production, now: Timestamp = .newYear
  ) -> SimulatedCall {
    SimulatedCall(
      endpoint: endpoint, parameters: parameters, bundleId: "com.example.app", environment: environment, query: query,
      body: body?.serialized() ?? [], now: now)
  }
}
