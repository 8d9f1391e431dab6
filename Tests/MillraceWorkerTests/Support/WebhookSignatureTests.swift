import MillraceCore
import Testing

@testable import MillraceWorker

@Suite struct WebhookSignatureTests {
  // The example of the specification's reference libraries.
  private let secret = Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8)
  private let body = Array(#"{"test": 2432232314}"#.utf8)

  @Test func `the signature of the specification's example matches`() throws {
    let headers = try WebhookSignature(secrets: [secret], of: "secretFile").headers(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: 1_614_265_330, body: body)
    #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
    #expect(
      headers.map(\.value) == [
        "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      ])
  }

  @Test func `during a rotation each secret signs`() throws {
    let both = try WebhookSignature(secrets: [secret, Array("another".utf8)], of: "secretFile").headers(
      id: "m", time: 1, body: body)
    let signatures = both.last?.value.split(separator: " ") ?? []
    let single = try WebhookSignature(secrets: [Array("another".utf8)], of: "secretFile").headers(
      id: "m", time: 1, body: body)
    #expect(signatures.count == 2)
    #expect(signatures.last.map(String.init) == single.last?.value)
  }

  @Test(arguments: ["whsec_", "whsec_not Base64!"])
  func `a secret with the Base64 prefix and invalid Base64 is refused at start`(secret: String) {
    #expect(throws: MillraceError.self) { try WebhookSignature(secrets: [Array(secret.utf8)], of: "secretFile") }
  }
}
