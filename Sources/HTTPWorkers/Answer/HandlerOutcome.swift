// The outcome that an endpoint returns. docs/http-workers/outcome.schema.json describes it.

package import AppStore
package import MillraceWorker

/// The decision of an endpoint.
package enum HandlerOutcome: Sendable, Hashable {
  /// The occurrence is handled.
  case results(Results)
  /// The attempt failed.
  case retry(after: Duration?, reason: String, detail: String)
  /// The endpoint gives up.
  case deadLetter(reason: String, detail: String)

  /// The change of a key's state.
  package enum StateChange: Sendable, Hashable {
    /// The state stays.
    case unchanged
    /// The state is removed.
    case removed
    /// The new state.
    case set(JSON)
  }

  /// A timer to set or cancel.
  package struct Timer: Sendable, Hashable {
    /// The name within the key.
    package var name: String
    /// The time; nil cancels the timer.
    package var at: Timestamp?
    /// The JSON that comes back when the timer is due; nil if there is none.
    package var payload: JSON?
  }

  /// A call to Apple.
  package struct Call: Sendable, Hashable {
    /// The name within the key.
    package var name: String
    /// The operation.
    package var operation: AppleOperation
    /// The arguments, which fit the operation.
    package var arguments: JSONObject
  }

  /// The results of a handled occurrence.
  package struct Results: Sendable, Hashable {
    /// The events to publish, in order.
    package var events: [EncodedEvent] = []
    /// The change of the key's state.
    package var state = StateChange.unchanged
    /// The timers to set or cancel.
    package var timers: [Timer] = []
    /// The calls to Apple.
    package var calls: [Call] = []
  }
}

/// A fault of an outcome.
package struct OutcomeFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The place in the JSON, such as `$.events[0].name`.
  package var place: String
  /// The kind of error, without the content.
  package var what: String

  init(_ place: String, _ what: String) {
    self.place = place
    self.what = what
  }

  /// The place and the fault.
  package var description: String { "\(place): \(what)" }
}
