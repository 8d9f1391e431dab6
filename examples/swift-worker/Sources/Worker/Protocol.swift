// The parts of the protocol that this worker uses (docs/http-workers).

/// The state of a subscriber who has left.
struct State: Codable, Equatable {
  var left: String
  var product: String?
}

/// The `data` of a request.
struct HandlerRequest: Decodable {
  struct Notification: Decodable {
    struct Transaction: Decodable { var productId: String? }
    var version: Int
    var type: String?
    var subtype: String?
    var signedDate: String?
    var receivedAt: String
    var transaction: Transaction?
  }

  struct Call: Decodable {
    struct Result: Decodable {
      var status: String
      var message: String?
      var body: Statuses?
    }
    var result: Result
  }

  struct Statuses: Decodable {
    struct Group: Decodable { var lastTransactions: [Last]? }
    struct Last: Decodable { var status: Int? }
    var data: [Group]?
  }

  var key: String
  var state: State?
  /// Set if a notification led to the request.
  var notification: Notification?
  /// Set if a call to Apple has ended.
  var call: Call?
}

/// A CloudEvent with a request.
struct CloudEvent: Decodable { var data: HandlerRequest }

/// The body of an answer 200.
struct Outcome: Encodable, Equatable {
  struct Timer: Encodable, Equatable {
    var name: String
    /// Null cancels the timer.
    var at: Nullable<String>
  }

  struct Call: Encodable, Equatable {
    var name: String
    var operation: String
    var arguments: [String: String]
  }

  struct Event: Encodable, Equatable {
    struct Offer: Encodable, Equatable { var product: String? }
    var name: String
    var data: Offer
  }

  struct DeadLetter: Encodable, Equatable {
    var reason: String
    var detail: String
  }

  /// Null removes the state; nil leaves it.
  var state: Nullable<State>?
  var timers: [Timer]?
  var calls: [Call]?
  var events: [Event]?
  var deadLetter: DeadLetter?

  init(
    state: Nullable<State>? = nil, timers: [Timer]? = nil, calls: [Call]? = nil, events: [Event]? = nil,
    deadLetter: DeadLetter? = nil
  ) {
    (self.state, self.timers, self.calls) = (state, timers, calls)
    (self.events, self.deadLetter) = (events, deadLetter)
  }
}

/// A value, or an explicit `null`.
enum Nullable<Value: Encodable & Equatable>: Encodable, Equatable {
  case value(Value)
  case null

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .value(let value): try container.encode(value)
    case .null: try container.encodeNil()
    }
  }
}
