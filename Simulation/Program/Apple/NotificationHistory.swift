// Apple's history of notifications, which a backfill reads.

internal import AppStore
internal import AppStoreServerAPI

struct NotificationHistory {
  private var items: [(at: Timestamp, jws: [UInt8])] = []

  /// Apple's pages have 20 items. Smaller ones give a run more steps.
  private static let pageSize = 4

  /// Adds a notification that Apple posts now for the first time.
  mutating func add(_ jws: [UInt8], at time: Timestamp) { items.append((time, jws)) }

  /// Returns the answer to a call; nil if it asks for something else.
  func answer(to call: AppleCall) throws -> ExchangeAnswer? {
    guard call.path.starts(with: ["inApps", "v1", "notifications"]), let last = call.path.last,
      last == "history" || last.hasPrefix("history?")
    else { return nil }
    let body = try JSONObject(parsing: call.body)
    guard case .integer(let from)? = body["startDate"], case .integer(let to)? = body["endDate"] else {
      return AppleModel.refusal(400, 4_000_000)
    }
    let token = last.split(separator: "=").dropFirst().last.flatMap { Int($0) } ?? 0
    let found = items.filter { (from..<to).contains($0.at.millisecondsSince1970) }.dropFirst(token)
    var answer: JSONObject = [
      "hasMore": .bool(found.count > Self.pageSize),
      "notificationHistory": .array(
        found.prefix(Self.pageSize).map {
          ["signedPayload": .string(String(decoding: $0.jws, as: UTF8.self)), "sendAttempts": []]
        }),
    ]
    answer["paginationToken"] = .string("\(token + min(found.count, Self.pageSize))")
    return ExchangeAnswer(status: 200, body: AppleModel.json(answer))
  }
}
