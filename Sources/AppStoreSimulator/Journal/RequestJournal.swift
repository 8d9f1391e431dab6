// Records the requests and the rules that callers broke.

internal import AppStore

/// Counts all requests and keeps the newest in detail.
struct RequestJournal: Sendable {
  /// One request.
  struct Entry: Sendable, Hashable {
    var time: Timestamp
    var environment: AppStoreEnvironment
    var bundleId: String?
    /// The endpoint; nil if the path is not part of the API.
    var endpoint: SimulatedEndpoint?
    /// The path, without the query.
    var path: String
    /// The response's status; nil if the connection was reset.
    var status: Int?
    /// Apple's error code; nil if the response is not an error.
    var errorCode: Int64?
    /// The fault that affected the request.
    var fault: String?
  }

  /// The breaches of one rule.
  struct Breaches: Sendable, Hashable {
    var count = 0
    /// The first few breaches.
    var examples: [Example] = []
  }

  struct Example: Sendable, Hashable {
    var time: Timestamp
    var endpoint: SimulatedEndpoint?
    var detail: String
  }

  /// The responses of one endpoint.
  struct Answers: Sendable, Hashable {
    var byStatus: [Int: Int] = [:]
    var byErrorCode: [Int64: Int] = [:]
    var withoutAnswer = 0
    var struckByFaults = 0
  }

  static let examplesPerRule = 5

  private(set) var answers: [SimulatedEndpoint: Answers] = [:]
  private(set) var breaches: [CallerRule: Breaches] = [:]
  private let capacity: Int
  private var ring: [Entry] = []
  private var next = 0

  /// - Parameter capacity: the number of requests to keep in detail.
  init(capacity: Int = 1_000) { self.capacity = max(1, capacity) }

  /// The newest requests, oldest first.
  var recent: [Entry] { Array(ring[next...] + ring[..<next]) }

  mutating func record(_ entry: Entry) {
    if let endpoint = entry.endpoint {
      if let status = entry.status {
        answers[endpoint, default: Answers()].byStatus[status, default: 0] += 1
      } else {
        answers[endpoint, default: Answers()].withoutAnswer += 1
      }
      if let code = entry.errorCode { answers[endpoint, default: Answers()].byErrorCode[code, default: 0] += 1 }
      if entry.fault != nil { answers[endpoint, default: Answers()].struckByFaults += 1 }
    }
    guard ring.count == capacity else { return ring.append(entry) }
    ring[next] = entry
    next = (next + 1) % capacity
  }

  mutating func breach(_ rule: CallerRule, _ endpoint: SimulatedEndpoint?, _ detail: String, at time: Timestamp) {
    var breaches = breaches[rule] ?? Breaches()
    breaches.count += 1
    if breaches.examples.count < Self.examplesPerRule {
      breaches.examples.append(Example(time: time, endpoint: endpoint, detail: detail))
    }
    self.breaches[rule] = breaches
  }
}
