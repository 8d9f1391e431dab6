// An API response as a value, before any fault is applied to it.

internal import AppStore

/// Status, headers and body of a response.
struct APIAnswer: Sendable, Hashable {
  var status: Int
  /// Header names are sent in this spelling.
  var headers: [Header]
  var body: [UInt8]
  /// The error in the body; nil if the body is not an error.
  var failure: APIFailure?

  struct Header: Sendable, Hashable {
    var name: String
    var value: String
  }

  init(status: Int, headers: [Header] = [], body: [UInt8] = [], failure: APIFailure? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.failure = failure
  }

  /// A response with a JSON body.
  static func json(_ object: JSONObject, status: Int = 200) -> APIAnswer {
    APIAnswer(status: status, headers: [.json], body: object.serialized())
  }

  /// A response without a body.
  static func empty(_ status: Int = 200) -> APIAnswer { APIAnswer(status: status) }

  /// Apple's error body, with the status that its code begins with.
  static func failure(_ failure: APIFailure, headers: [Header] = []) -> APIAnswer {
    APIAnswer(status: failure.status, headers: [.json] + headers, body: failure.body, failure: failure)
  }

  /// The response to a rejected token: not JSON, and without the reason.
  static let unauthenticated = APIAnswer(
    status: 401, headers: [Header(name: "Content-Type", value: "text/plain")],
    body: Array("Unauthenticated\n\nRequest ID: SIMULATOR.0.0\n".utf8))

  /// An error page as a gateway sends it.
  static func html(_ status: Int) -> APIAnswer {
    APIAnswer(
      status: status, headers: [Header(name: "Content-Type", value: "text/html")],
      body: Array("<html><head><title>\(status)</title></head><body><h1>\(status)</h1></body></html>\n".utf8))
  }
}

extension APIAnswer.Header {
  static let json = APIAnswer.Header(name: "Content-Type", value: "application/json")
}
