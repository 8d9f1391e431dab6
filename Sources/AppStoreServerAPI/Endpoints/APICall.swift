// A call without a base URL or token: endpoint, environment, path, query and body. The client sends the same value
// again after a 401. The calls for the pages of a list differ only in their cursor.

internal import AppStore

/// A call to one endpoint in one environment.
struct APICall: Sendable, Hashable {
  let endpoint: APIEndpoint
  let environment: AppStoreEnvironment
  /// The path segments, not percent-encoded.
  let path: [String]
  var query: [QueryItem] = []
  var body: [UInt8]?

  /// The path and query as in the request line.
  var target: String {
    let path = path.map { "/" + $0.percentEncoded }.joined()
    return query.isEmpty ? path : path + "?" + query.encodedQuery
  }
}
