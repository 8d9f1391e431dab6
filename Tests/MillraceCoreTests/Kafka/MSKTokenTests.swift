import AppStore
import Foundation
import KafkaClient
import TestEnvironment
import Testing

@testable import MillraceCore

@Suite struct MSKTokenTests {
  /// A token of AWS's own library, without the user agent. `scripts/check oauth` signs them again.
  private struct Vector: Codable {
    var time: String
    var region: String
    var accessKeyId: String
    var secretAccessKey: String
    var sessionToken: String?
    var url: String
    var expiresAt: Int64
  }

  @Test func `tokens equal those of AWS's library`() throws {
    let file = URL(filePath: "\(Project.root)/scripts/checks/oauth/msk-tokens.json")
    let vectors = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
    #expect(vectors.count == 3)
    for vector in vectors {
      let credentials = AWSCredentials(
        accessKeyId: vector.accessKeyId, secretAccessKey: vector.secretAccessKey, sessionToken: vector.sessionToken)
      let time = try #require(Timestamp(rfc3339: vector.time))
      // The signature has whole seconds.
      let late = Timestamp(millisecondsSince1970: time.millisecondsSince1970 + 999)
      let token = MSKToken(region: vector.region, credentials: credentials, at: late).token
      let url = try #require(Base64.decodeURL(token.value.utf8).map { String(decoding: $0, as: UTF8.self) })
      #expect(url == "\(vector.url)&User-Agent=millrace")
      #expect(token.expiresAt == vector.expiresAt)
    }
  }

  @Test func `a token ends with its credentials`() {
    let end = Timestamp(millisecondsSince1970: 60_000)
    let credentials = AWSCredentials(accessKeyId: "A", secretAccessKey: "s", sessionToken: "t", expiresAt: end)
    let token = MSKToken(region: "eu-west-1", credentials: credentials, at: .init(millisecondsSince1970: 0)).token
    #expect(token.expiresAt == 60_000)
    #expect("\(credentials)" == "AWS credentials of A")
  }
}
