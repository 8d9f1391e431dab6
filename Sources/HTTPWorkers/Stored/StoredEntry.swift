// What a timer of the SDK holds for an HTTP worker: a timer of the endpoint, or a call to Apple that it ordered.

internal import AppStore
internal import MillraceWorker

/// A timer or a call in the payload of an SDK timer.
struct StoredEntry: Sendable, Hashable {
  /// The notification that led to the entry.
  struct Origin: Sendable, Hashable {
    var bundleId: String?
    var environment: String?
    var isReplay = false
    /// The replay run with `--reapply`.
    var run: String?
  }

  /// The kind of entry.
  enum Content: Sendable, Hashable {
    /// A timer with the payload that the endpoint gave.
    case timer(payload: JSON?)
    case call(AppleOperation, arguments: JSONObject)
  }

  var name: String
  /// The time for which the endpoint set the timer, or at which it ordered the call.
  var at: Timestamp
  var content: Content
  var origin: Origin
  /// The result of the call, from the time when it was made until it is delivered.
  var result: JSON?

  /// The payload of a timer; nil for a call, or if the endpoint gave none.
  var payload: JSON? { if case .timer(let payload) = content { payload } else { nil } }
  /// The call; nil for a timer.
  var call: (operation: AppleOperation, arguments: JSONObject)? {
    if case .call(let operation, let arguments) = content { (operation, arguments) } else { nil }
  }

  /// The kind of request that the entry leads to.
  var kind: HandlerRequest.Kind { call == nil ? .timer : .callResult }

  /// Returns the name of the SDK timer.
  func timerName(key: String) -> String {
    switch content {
    case .timer: Self.timerName(name, key: key)
    case .call: Self.callName(name, key: key)
    }
  }

  /// Returns the name of the SDK timer of a timer.
  static func timerName(_ name: String, key: String) -> String { "timer/\(key)/\(name)" }
  /// Returns the name of the SDK timer of a call, which is also the name of the effect.
  static func callName(_ name: String, key: String) -> String { "call/\(key)/\(name)" }

  /// The payload of the SDK timer.
  var bytes: [UInt8] {
    // Earlier versions counted the attempts here and need the member. The SDK counts them now.
    var json: JSONObject = ["name": .string(name), "at": .integer(at.millisecondsSince1970), "attempts": 0]
    json["bundleId"] = origin.bundleId.map { .string($0) }
    json["environment"] = origin.environment.map { .string($0) }
    json["result"] = result
    if origin.isReplay { json["replay"] = true }
    json["run"] = origin.run.map { .string($0) }
    switch content {
    case .timer(let payload): json["payload"] = payload
    case .call(let operation, let arguments):
      json["operation"] = .string(operation.rawValue)
      json["arguments"] = .object(arguments)
    }
    return json.serialized()
  }

  /// Reads the payload of an SDK timer; nil if it is not one of an HTTP worker.
  init?(bytes: [UInt8]) {
    guard let json = Self.object(bytes), case .string(let name)? = json["name"], case .integer(let at)? = json["at"]
    else { return nil }
    func text(_ name: String) -> String? { if case .string(let text)? = json[name] { text } else { nil } }
    self.name = name
    self.at = Timestamp(millisecondsSince1970: at)
    result = json["result"]
    origin = Origin(
      bundleId: text("bundleId"), environment: text("environment"), isReplay: json["replay"] == true, run: text("run"))
    if let operation = text("operation") {
      guard let operation = AppleOperation(rawValue: operation), case .object(let arguments)? = json["arguments"] else {
        return nil
      }
      content = .call(operation, arguments: arguments)
    } else {
      content = .timer(payload: json["payload"])
    }
  }

  init(name: String, at: Timestamp, content: Content, origin: Origin) {
    self.name = name
    self.at = at
    self.content = content
    self.origin = origin
  }

  private static func object(_ bytes: [UInt8]) -> JSONObject? {
    // A payload that is not JSON is not one of an HTTP worker; the caller reports it.
    do { return try JSONObject(parsing: bytes) } catch { return nil }
  }
}
