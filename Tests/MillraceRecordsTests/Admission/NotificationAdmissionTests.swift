import AppStore
import AppStoreSignature
import AppStoreSigning
import Foundation
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import MillraceRecords

@Suite struct NotificationAdmissionTests {
  private static let date = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  private func admission(secrets: [String]) throws -> NotificationAdmission {
    let directory = try TemporaryDirectory()
    var app = AppSettings()
    app.bundleId = SampleApp().bundleId
    app.environments = [.production]
    for (index, secret) in secrets.enumerated() {
      app.sharedSecretFiles.append(try directory.write(secret, to: "\(index)"))
    }
    return NotificationAdmission(
      verifier: try SignedDataVerifier(), identities: .any, sharedSecrets: try SharedSecretCheck([app]))
  }

  private func reason(_ body: String, _ admission: NotificationAdmission) -> Refusal.Reason? {
    do {
      _ = try admission.v1(body: Array(body.utf8))
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func `version 1 bodies are accepted only with a shared secret in the configuration`() throws {
    #expect(try !admission(secrets: []).acceptsV1)
    #expect(try admission(secrets: ["s"]).acceptsV1)
  }

  @Test(arguments: [
    (#"{"password":"s"}"#, Refusal.Reason.malformed), (#"{"password":"t"}"#, .wrongSecret), ("{}", .wrongSecret),
    // Every password must be right, because parsers differ in which one they return.
    (#"{"password":"s","password":"t"}"#, .wrongSecret), (#"{"password":"t","password":"s"}"#, .wrongSecret),
    (#"{"password":"s","p\u0061ssword":"t"}"#, .wrongSecret), (#"{"password":"s","password":null}"#, .wrongSecret),
    (#"{"password":["s"]}"#, .wrongSecret), (#"{"a":{"password":"s"}}"#, .wrongSecret),
    (#"{"password":"s""#, .malformed), (#"["password","s"]"#, .malformed),
  ])
  func `a body is parsed only if all of its passwords are right`(
    body: String, expected: Refusal.Reason
  ) throws {
    #expect(reason(body, try admission(secrets: ["s"])) == expected)
  }

  @Test func `a body is admitted without the secret, even if it contains it twice`() throws {
    let admission = try admission(secrets: ["old", "new"])
    var samples = SampleNotificationsV1(app: SampleApp(), password: "new", seed: 1)
    let body = String(decoding: samples.next(.refund, at: Self.date).body, as: UTF8.self)
    for posted in [body, #"{"password":"new","# + body.dropFirst()] {
      guard case .v1(_, let value, _, _) = try admission.v1(body: Array(posted.utf8)) else {
        Issue.record("the body was admitted as another version")
        continue
      }
      #expect(!String(decoding: value, as: UTF8.self).contains("password"))
    }
  }
}
