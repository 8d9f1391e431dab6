// An answer as a value, before anybody decides to spoil it.

internal import AppStore

/// Status, headers and body of one answer.
struct APIAnswer: Sendable, Hashable {
  var status: Int
  /// Names in the spelling that is sent.
  var headers: [Header]
  var body: [UInt8]
  /// The error that the body states; nil for other bodies.
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

  /// 200 with JSON.
  static func json(_ object: JSONObject, status: Int = 200) -> APIAnswer {
    APIAnswer(status: status, headers: [.json], body: object.serialized())
  }

  /// A status alone.
  static func empty(_ status: Int = 200) -> APIAnswer { APIAnswer(status: status) }

  /// Apple's error body under the status of its code.
  static func failure(_ failure: APIFailure, headers: [Header] = []) -> APIAnswer {
    APIAnswer(status: failure.status, headers: [.json] + headers, body: failure.body, failure: failure)
  }

  /// A refused token: no JSON, and no word about what is wrong with it.
  static let unauthenticated = APIAnswer(
    status: 401, headers: [Header(name: "Content-Type", value: "text/plain")],
    body: Array("Unauthenticated\n\nRequest ID: SIMULATOR.0.0\n".utf8))

  /// What a gateway says instead of Apple.
  static func html(_ status: Int) -> APIAnswer {
    APIAnswer(
      status: status, headers: [Header(name: "Content-Type", value: "text/html")],
      body: Array("<html><head><title>\(status)</title></head><body><h1>\(status)</h1></body></html>\n".utf8))
  }
}

extension APIAnswer.Header {
  static let json = APIAnswer.Header(name: "Content-Type", value: "application/json")
}
