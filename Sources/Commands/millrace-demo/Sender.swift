// Posts bodies as the App Store would: one HTTP request each, JSON, no authentication but what is in the body.
import AsyncHTTPClient
import Millrace
import NIOCore
import NIOHTTP1

struct Sender: Sendable {
  let ingress: String

  init(_ configuration: MillraceConfiguration) {
    ingress = "http://\(configuration.ingress.host):\(configuration.ingress.port)"
  }

  /// Posts and gives the status of the answer.
  func post(_ body: [UInt8], to path: String) async throws -> Int {
    var request = HTTPClientRequest(url: ingress + path)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/json")
    request.headers.add(name: "user-agent", value: "millrace-demo")
    request.body = .bytes(ByteBuffer(bytes: body))
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    // Read to the end, so that the connection can be used again.
    for try await _ in response.body {}
    return Int(response.status.code)
  }
}
