// Reads a fault from a scenario file or control request. An unknown key is an error, because a misspelled key would
// create a fault that never occurs.

package import AppStore
internal import MillraceTime

/// An invalid fault description: the key and the expected value.
package struct FaultDescriptionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The invalid member; nil for the description as a whole.
  package let key: String?
  /// The problem, usually the expected value.
  package let expectation: String

  /// The nearest known name; nil if none is similar.
  package var nearest: String?

  /// `key: expectation; did you mean nearest?`
  package var description: String {
    (key.map { "\($0): \(expectation)" } ?? expectation) + (nearest.map { "; did you mean \($0)?" } ?? "")
  }

  /// The body of a control response: `{"error": …, "key": …, "nearest": …}`.
  var json: JSONObject {
    var json: JSONObject = ["error": .string(description)]
    json["key"] = key.map { .string($0) }
    json["nearest"] = nearest.map { .string($0) }
    return json
  }
}

extension Fault {
  /// Creates the fault that an object describes:
  ///
  /// ```json
  /// {"effect": "status", "status": 503, "body": "html", "endpoints": ["extendSubscriptionRenewalDate"],
  ///  "after": "10m", "for": "1h", "count": 100, "share": 0.2}
  /// ```
  ///
  /// `effect` is one of:
  ///
  /// - `latency`, with `delay`
  /// - `status`, with `status` and `body` (`empty`, `html` or `json`); for `json` also `errorCode` and `errorMessage`
  /// - `tooManyRequests`, with `retryAfter`, a duration, and `retryAfterForm`: `milliseconds`, `seconds`, `date` or
  ///   `absent`
  /// - `unauthorized`
  /// - `connectionReset`
  /// - `truncatedBody`, with `keeping`, the share of the body that is sent
  /// - `answerLost`
  /// - `outage`: 503 with a gateway's error page
  ///
  /// - Parameters:
  ///   - json: the description.
  ///   - origin: the time that `after` is relative to. Without `after`, the fault is active from the beginning.
  /// - Throws: ``FaultDescriptionError`` for the first member that is unknown, missing or invalid.
  package init(json: JSONObject, origin: Timestamp) throws(FaultDescriptionError) {
    var fields = DescriptionFields(json)
    let after = try fields.duration("after")
    let length = try fields.duration("for")
    let effect = try FaultEffect(&fields)
    self.init(
      effect, endpoints: try fields.endpoints(), bundleId: try fields.text("bundleId"),
      environment: try fields.environment(), from: after.map { origin + $0 },
      until: length.map { origin + (after ?? .zero) + $0 },
      count: try fields.number("count", in: 1...Int64.max).map { Int($0) }, share: try fields.share("share") ?? 1)
    try fields.finish()
  }
}

extension FaultEffect {
  fileprivate init(_ fields: inout DescriptionFields) throws(FaultDescriptionError) {
    let names = [
      "latency", "status", "outage", "tooManyRequests", "unauthorized", "connectionReset", "truncatedBody",
      "answerLost",
    ]
    let name = try fields.text("effect")
    switch name {
    case "latency": self = .latency(try fields.duration("delay").required("delay", "expected a duration such as 2s"))
    case "status":
      let status = try fields.number("status", in: 400...599).required("status", "expected a number from 400 to 599")
      self = .failure(status: Int(status), body: try fields.body(status: status))
    case "outage": self = .failure(status: 503, body: .html)
    case "tooManyRequests": self = .tooManyRequests(try fields.retryAfter())
    case "unauthorized": self = .unauthorized
    case "connectionReset": self = .connectionReset
    case "truncatedBody": self = .truncatedBody(share: try fields.share("keeping") ?? 0.5)
    case "answerLost": self = .answerLost
    default:
      throw FaultDescriptionError(
        key: "effect", expectation: "expected one of " + names.joined(separator: ", "),
        nearest: name.flatMap { NearestName.of($0, among: names) })
    }
  }
}

/// Reads each member of a description once. A member that was not read is unknown.
private struct DescriptionFields {
  private let json: JSONObject
  private var unread: [String]
  /// The keys that the description accepts: every key that was looked up so far.
  private var known: [String] = []

  init(_ json: JSONObject) {
    self.json = json
    unread = json.members.map(\.key)
  }

  private mutating func value(_ key: String) -> JSON? {
    unread.removeAll { $0 == key }
    known.append(key)
    return json[key]
  }

  mutating func text(_ key: String) throws(FaultDescriptionError) -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value else { throw FaultDescriptionError(key: key, expectation: "expected text") }
    return text
  }

  mutating func duration(_ key: String) throws(FaultDescriptionError) -> Duration? {
    guard let text = try text(key) else { return nil }
    return try DurationText.parse(text).required(key, "expected a duration such as 500ms, 10s, 5m, 1h or 2d")
  }

  mutating func number(_ key: String, in range: ClosedRange<Int64>) throws(FaultDescriptionError) -> Int64? {
    guard let value = value(key) else { return nil }
    guard case .integer(let number) = value, range.contains(number) else {
      throw FaultDescriptionError(
        key: key, expectation: "expected a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  mutating func share(_ key: String) throws(FaultDescriptionError) -> Double? {
    let share: Double?
    switch value(key) {
    case nil: return nil
    case .integer(let number): share = Double(number)
    case .number(let text): share = Double(text)
    default: share = nil
    }
    guard let share, share > 0, share <= 1 else {
      throw FaultDescriptionError(key: key, expectation: "expected a number above 0 and at most 1")
    }
    return share
  }

  mutating func endpoints() throws(FaultDescriptionError) -> Set<SimulatedEndpoint>? {
    guard let value = value("endpoints") else { return nil }
    guard case .array(let names) = value, !names.isEmpty else {
      throw FaultDescriptionError(key: "endpoints", expectation: "expected a list with at least one endpoint name")
    }
    var endpoints: Set<SimulatedEndpoint> = []
    for name in names {
      let known = SimulatedEndpoint.allCases.map(\.rawValue)
      guard let endpoint = String(jsonValue: name).flatMap(SimulatedEndpoint.init(rawValue:)) else {
        throw FaultDescriptionError(
          key: "endpoints", expectation: "expected endpoint names: " + known.joined(separator: ", "),
          nearest: String(jsonValue: name).flatMap { NearestName.of($0, among: known) })
      }
      endpoints.insert(endpoint)
    }
    return endpoints
  }

  mutating func environment() throws(FaultDescriptionError) -> AppStoreEnvironment? {
    guard let text = try text("environment") else { return nil }
    return try [AppStoreEnvironment.production, .sandbox].first { $0.rawValue == text }
      .required("environment", "expected Production or Sandbox")
  }

  mutating func body(status: Int64) throws(FaultDescriptionError) -> FaultEffect.FailureBody {
    switch try text("body") {
    case nil, "empty": return .empty
    case "html": return .html
    case "json":
      let code = try number("errorCode", in: 4_000_000...5_999_999) ?? status * 10_000
      return .json(code: code, message: try text("errorMessage") ?? APIFailure.generalInternal.message)
    default: throw FaultDescriptionError(key: "body", expectation: "expected empty, html or json")
    }
  }

  mutating func retryAfter() throws(FaultDescriptionError) -> FaultEffect.RetryAfterForm {
    let wait = try duration("retryAfter") ?? .seconds(60)
    switch try text("retryAfterForm") {
    case nil, "milliseconds": return .milliseconds(from: wait)
    case "seconds": return .seconds(wait.components.seconds)
    case "date": return .date(from: wait)
    case "absent": return .absent
    default:
      throw FaultDescriptionError(key: "retryAfterForm", expectation: "expected milliseconds, seconds, date or absent")
    }
  }

  func finish() throws(FaultDescriptionError) {
    if let key = unread.first {
      throw FaultDescriptionError(
        key: key, expectation: "unknown member, or not one of this effect", nearest: NearestName.of(key, among: known))
    }
  }
}

extension Optional {
  fileprivate func required(_ key: String, _ expectation: String) throws(FaultDescriptionError) -> Wrapped {
    guard let self else { throw FaultDescriptionError(key: key, expectation: expectation) }
    return self
  }
}
