// One call before it has an address: endpoint, environment, path, query, body. The same value is sent again after a 401,
// and a paged read differs from page to page in its cursor alone.

internal import AppStore

/// What is asked of one endpoint in one environment.
struct APICall: Sendable, Hashable {
  let endpoint: APIEndpoint
  let environment: AppStoreEnvironment
  /// The path, each segment unencoded.
  let path: [String]
  var query: [QueryItem] = []
  var body: [UInt8]?

  /// Path and query as they stand in the request line.
  var target: String {
    let path = path.map { "/" + $0.percentEncoded }.joined()
    return query.isEmpty ? path : path + "?" + query.encodedQuery
  }
}
