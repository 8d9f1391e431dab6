// A request to the endpoint: a CloudEvent in structured JSON mode. docs/http-workers/request.schema.json describes it.

package import AppStore

/// A request before it is signed and sent.
package struct HandlerRequest: Sendable, Hashable {
  /// The kind of occurrence.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A verified notification.
    case notification
    /// A timer that is due.
    case timer
    /// The result of a call to Apple.
    case callResult = "call-result"

    /// The member of `data` with the occurrence.
    var member: String {
      switch self {
      case .notification: "notification"
      case .timer: "timer"
      case .callResult: "call"
      }
    }
  }

  /// The version of the protocol, the value of `millrace-protocol`.
  package static let version = "1"

  /// The `webhook-id`.
  package var id: String
  /// The kind of occurrence.
  package var kind: Kind
  /// The name of the worker.
  package var worker: String
  /// The key of the record.
  package var key: String
  /// 1 for the first attempt.
  package var attempt: Int
  /// Whether the occurrence comes from a replay.
  package var isReplay: Bool
  /// Whether the replay was made with `--reapply`.
  package var isReapply: Bool
  /// The time of the occurrence.
  package var time: Timestamp
  /// The stored state of the key; null if there is none.
  package var state: JSON
  /// The occurrence.
  package var subject: JSONObject

  /// Creates a request.
  package init(
    id: String, kind: Kind, worker: String, key: String, attempt: Int, isReplay: Bool, isReapply: Bool,
    time: Timestamp, state: JSON, subject: JSONObject
  ) {
    self.id = id
    self.kind = kind
    self.worker = worker
    self.key = key
    self.attempt = attempt
    self.isReplay = isReplay
    self.isReapply = isReapply
    self.time = time
    self.state = state
    self.subject = subject
  }

  /// Returns the body.
  /// - Parameter deadline: The real time at which the worker stops waiting for the response.
  package func body(deadline: Timestamp, isDryRun: Bool = false) -> [UInt8] {
    var data: JSONObject = [
      "kind": .string(kind.rawValue), "worker": .string(worker), "key": .string(key),
      "attempt": .integer(Int64(attempt)), "replay": .bool(isReplay), "reapply": .bool(isReapply),
      "deadline": .string(deadline.rfc3339), "state": state, kind.member: .object(subject),
    ]
    if isDryRun { data["dryRun"] = true }
    let event: JSONObject = [
      "specversion": "1.0", "id": .string(id), "source": .string("millrace/\(worker)"),
      "type": .string("dev.millrace.worker.\(kind.rawValue)"), "subject": .string(key), "time": .string(time.rfc3339),
      "datacontenttype": "application/json", "data": .object(data),
    ]
    return event.serialized()
  }
}
