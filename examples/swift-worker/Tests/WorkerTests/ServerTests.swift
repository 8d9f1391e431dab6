import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import Worker

@Suite struct ServerTests {
  static let id = "0b5c1f0e-8f35-5a3b-9a5e-6f0d1d0e7c11"
  static let event = """
    {"data":{"kind":"notification","key":"1","state":null,"notification":
    {"version":2,"type":"EXPIRED","subtype":"VOLUNTARY","receivedAt":"2026-01-06T03:22:02Z"}}}
    """

  private let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  private func sign(_ body: String, key: String = "millrace", at time: Date = Date()) -> [String: String] {
    let time = "\(Int(time.timeIntervalSince1970))"
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("\(Self.id).\(time).\(body)".utf8), using: SymmetricKey(data: Data(key.utf8)))
    return [
      "webhook-id": Self.id, "webhook-timestamp": time, "webhook-signature": "v1,\(Data(code).base64EncodedString())",
    ]
  }

  /// Posts a request, with the secret in the file. Returns the status.
  private func post(
    _ body: String, _ headers: [String: String], secret: String = "whsec_bWlsbHJhY2U=\n"
  ) async throws -> Int {
    try Data(secret.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var fields = HTTPFields()
    for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
    return try await Application(router: router(secretFile: file.path)).test(.router) { [fields] client in
      try await client.execute(
        uri: "/notifications", method: .post, headers: fields, body: ByteBuffer(string: body)
      ) { $0.status.code }
    }
  }

  @Test(arguments: ["whsec_bWlsbHJhY2U=\n", "millrace"])
  func `a signed request is answered`(secret: String) async throws {
    #expect(try await post(Self.event, sign(Self.event), secret: secret) == 200)
    let other = Self.event.replacing("EXPIRED", with: "TEST")
    #expect(try await post(other, sign(other), secret: secret) == 204)
  }

  @Test func `during a rotation one valid signature is enough`() async throws {
    var headers = sign(Self.event)
    headers["webhook-signature"] = "v1,AAAA " + (headers["webhook-signature"] ?? "")
    #expect(try await post(Self.event, headers) == 200)
  }

  @Test func `a wrong signature is refused`() async throws {
    #expect(try await post(Self.event, [:]) == 401)
    #expect(try await post(Self.event, sign(Self.event, key: "another")) == 401)
    #expect(try await post(Self.event, sign("{}")) == 401)
    for signature in ["", "v1", "v1,", "v1,AAAA", "v1,=", "v2,AAAA", "nonsense"] {
      var headers = sign(Self.event)
      headers["webhook-signature"] = signature
      #expect(try await post(Self.event, headers) == 401, "\(signature)")
    }
  }

  @Test(arguments: [-301, 301]) func `a request of another time is refused`(away: Double) async throws {
    #expect(try await post(Self.event, sign(Self.event, at: Date(timeIntervalSinceNow: away))) == 401)
  }

  @Test(arguments: ["{", "{}", "[]", "1", "null"]) func `a body that is no event is refused`(body: String) async throws
  {
    #expect(try await post(body, sign(body)) == 400)
  }
}
