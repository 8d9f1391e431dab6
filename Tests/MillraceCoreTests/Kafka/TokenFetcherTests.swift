import AppStore
import Foundation
import HTTPTypes
import Hummingbird
import KafkaClient
import NIOCore
import TestEnvironment
import Testing

@testable import MillraceCore

@Suite struct TokenFetcherTests {
  private typealias Answer = @Sendable (HTTPRequest, String) -> (HTTPResponse.Status, String)

  /// Runs a server on a free port, which gets each request and its body, while `body` runs.
  private func answering(_ answer: @escaping Answer, _ body: (String) async throws -> Void) async throws {
    let respond: @Sendable (Request) async throws -> Response = { request in
      let text = String(buffer: try await request.body.collect(upTo: 64 << 10))
      let (status, answer) = answer(request.head, text)
      return Response(status: status, body: .init(byteBuffer: ByteBuffer(string: answer)))
    }
    try await LocalServer.answering(respond, body)
  }

  private static let now: Int64 = 1_767_225_600_000  // 2026-01-01

  private func fetch(_ settings: OAuthSettings, environment: [String: String] = [:]) async throws -> KafkaToken {
    try await TokenFetcher(
      settings: settings, environment: environment, now: { Timestamp(millisecondsSince1970: Self.now) }
    ).fetch()
  }

  private func failure(_ settings: OAuthSettings, environment: [String: String] = [:]) async -> String? {
    await #expect(throws: MillraceError.self) { try await fetch(settings, environment: environment) }?.description
  }

  private func oidc(_ url: String, in directory: borrowing TemporaryDirectory) throws -> OAuthSettings {
    var settings = OAuthSettings()
    settings.method = .oidc
    settings.tokenURL = "\(url)/token"
    settings.clientId = "mill:race"
    settings.clientSecretFile = try directory.write("a secret&more\n", to: "secret")
    return settings
  }

  private static func jwt(_ claims: String) -> String {
    [#"{"alg":"none"}"#, claims, ""].map { String(decoding: Base64.encodeURL($0.utf8), as: UTF8.self) }
      .joined(separator: ".")
  }

  // MARK: - OpenID Connect

  @Test func `a server gets the client's credentials and the scope`() async throws {
    let directory = try TemporaryDirectory()
    let answer: Answer = { request, body in
      let credentials = Base64.encodeStandard("mill%3Arace:a%20secret%26more".utf8)
      let isRight =
        request.headerFields[.authorization] == "Basic " + String(decoding: credentials, as: UTF8.self)
        && request.headerFields[.contentType] == "application/x-www-form-urlencoded"
        && body == "grant_type=client_credentials&scope=kafka%20write"
      return isRight ? (.ok, #"{"access_token":"t","token_type":"Bearer","expires_in":3600}"#) : (.badRequest, body)
    }
    try await answering(answer) { url in
      var settings = try oidc(url, in: directory)
      settings.scope = "kafka write"
      settings.extensions = ["logicalCluster": "lkc-1"]
      let token = try await fetch(settings)
      #expect(
        token
          == KafkaToken(
            value: "t", expiresAt: Self.now + 3_600_000, principal: "mill:race",
            extensions: ["logicalCluster": "lkc-1"]))
    }
  }

  @Test func `the end of a token is the earlier of its own and the server's`() async throws {
    let directory = try TemporaryDirectory()
    let seconds = Self.now / 1_000
    let cases: [(claims: String, answer: String, end: Int64)] = [
      (#"{"exp":\#(seconds + 60),"sub":"s"}"#, #","expires_in":3600"#, 60_000),
      (#"{"exp":\#(seconds + 60).9}"#, "", 60_900), (#"{"exp":\#(seconds + 7200)}"#, #","expires_in":3600"#, 3_600_000),
    ]
    for each in cases {
      let body = #"{"access_token":"\#(Self.jwt(each.claims))"\#(each.answer)}"#
      try await answering({ _, _ in (.ok, body) }) { url in
        let token = try await fetch(try oidc(url, in: directory))
        #expect(token.expiresAt == Self.now + each.end)
        #expect(token.principal == (each.claims.contains("sub") ? "s" : "mill:race"))
      }
    }
  }

  @Test func `an answer without a token is an error that names the server and no secret`() async throws {
    let directory = try TemporaryDirectory()
    let cases: [(HTTPResponse.Status, String, String)] = [
      (
        .unauthorized, #"{"error":"invalid_client","error_description":"a secret&more"}"#,
        "answered 401 (invalid_client)"
      ),
      (.internalServerError, "a secret&more", "answered 500;"), (.ok, "<html>", "sent no access_token"),
      (.ok, #"{"access_token":""}"#, "sent no access_token"), (.ok, #"{"access_token":"t"}"#, "sent no expires_in"),
      (.ok, #"{"access_token":"t","expires_in":"soon"}"#, "sent no expires_in"),
      (.ok, #"{"access_token":"t","expires_in":0}"#, "sent no expires_in"),
      (.ok, String(repeating: "x", count: 300 << 10), "larger than"),
    ]
    for (status, body, expected) in cases {
      try await answering({ _, _ in (status, body) }) { url in
        let text = try #require(await failure(try oidc(url, in: directory)))
        #expect(text.hasPrefix("\(url)/token: the server "))
        #expect(text.contains(expected), "\(text)")
        #expect(text.contains("check kafka.oauth.tokenURL"))
        #expect(!text.contains("more"))
      }
    }
  }

  @Test func `an error masks the URL's password and query`() async throws {
    let directory = try TemporaryDirectory()
    var settings = try oidc("", in: directory)
    settings.tokenURL = "http://user:hunter2@127.0.0.1:1/token/?key=hunter3"
    let text = try #require(await failure(settings))
    #expect(text.contains("@127.0.0.1:1/token/?") && !text.contains("hunter"), "\(text)")
  }

  @Test func `a server that does not run, and a missing secret, are errors`() async throws {
    let directory = try TemporaryDirectory()
    var settings = try oidc("http://127.0.0.1:1", in: directory)
    #expect(await failure(settings)?.contains("http://127.0.0.1:1/token: the server did not answer") == true)
    settings.clientSecretFile = "/nowhere"
    #expect(await failure(settings)?.hasPrefix("kafka.oauth.clientSecretFile: /nowhere: ") == true)
    settings.clientSecretFile = try directory.write("s", to: "secret")
    settings.caFile = try directory.write("no certificate", to: "ca.pem")
    #expect(await failure(settings)?.hasPrefix("kafka.oauth.caFile: ") == true)
  }

  // MARK: - File

  @Test func `a file is read for each token`() async throws {
    let directory = try TemporaryDirectory()
    let seconds = Self.now / 1_000
    var settings = OAuthSettings()
    settings.method = .file
    let (first, second) = (Self.jwt(#"{"exp":\#(seconds + 600),"sub":"pod"}"#), "opaque")
    settings.tokenFile = try directory.write("\(first)\n", to: "token")
    #expect(try await fetch(settings) == KafkaToken(value: first, expiresAt: Self.now + 600_000, principal: "pod"))
    _ = try directory.write(second, to: "token")
    let token = try await fetch(settings)
    #expect(token == KafkaToken(value: second, expiresAt: Self.now + 60_000, principal: "token-file"))
    _ = try directory.write(Self.jwt(#"{"exp":\#(seconds)}"#), to: "token")
    let text = await failure(settings)
    #expect(text?.contains("the token expired at 2026-01-01T00:00:00.000Z; check the process that renews") == true)
  }

  // MARK: - AWS

  private func aws() -> OAuthSettings {
    var settings = OAuthSettings()
    settings.method = .aws
    settings.region = "eu-central-1"
    return settings
  }

  private func query(_ token: KafkaToken) throws -> String {
    String(decoding: try #require(Base64.decodeURL(token.value.utf8)), as: UTF8.self)
  }

  @Test func `static credentials precede those of the environment`() async throws {
    let directory = try TemporaryDirectory()
    var settings = aws()
    let environment = ["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "e", "AWS_SESSION_TOKEN": "st"]
    let given = try await fetch(settings, environment: environment)
    #expect(given.principal == "ENV" && given.expiresAt == Self.now + 900_000)
    #expect(try query(given).contains("X-Amz-Security-Token=st"))
    settings.accessKeyId = "STATIC"
    settings.secretAccessKeyFile = try directory.write("s", to: "key")
    let own = try await fetch(settings, environment: environment)
    #expect(own.principal == "STATIC")
    #expect(try !query(own).contains("Security-Token"))
  }

  @Test func `a web identity is exchanged for the credentials of its role`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("web/token", to: "web")
    let answer: Answer = { request, body in
      body
        == "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"
        + "&RoleSessionName=millrace&WebIdentityToken=web%2Ftoken"
        ? (
          .ok,
          """
          <AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ROLE</AccessKeyId>
          <SecretAccessKey>k</SecretAccessKey><SessionToken>st</SessionToken>
          <Expiration>2026-01-01T00:10:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>
          """
        )
        : (
          .forbidden,
          "<ErrorResponse><Error><Code>AccessDenied</Code><Message>web/token</Message></Error></ErrorResponse>"
        )
    }
    try await answering(answer) { url in
      var environment = [
        "AWS_WEB_IDENTITY_TOKEN_FILE": file, "AWS_ROLE_ARN": "arn:aws:iam::1:role/r",
        "AWS_ENDPOINT_URL_STS": "\(url)/sts",
        "AWS_ACCESS_KEY_ID": "",
      ]
      let token = try await fetch(aws(), environment: environment)
      #expect(token.principal == "ROLE" && token.expiresAt == Self.now + 600_000)
      environment["AWS_ROLE_ARN"] = "another"
      let text = await failure(aws(), environment: environment)
      #expect(text?.contains("answered 403 (AccessDenied); check AWS_ROLE_ARN and the role's trust policy") == true)
    }
  }

  @Test func `the agent of a pod gets the token of its file`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("pod-token", to: "pod")
    let answer: Answer = { request, _ in
      request.headerFields[.authorization] == "pod-token" && request.path == "/v1/credentials"
        ? (.ok, #"{"AccessKeyId":"POD","SecretAccessKey":"k","Token":"st","Expiration":"2026-01-01T06:00:00Z"}"#)
        : (.unauthorized, "")
    }
    try await answering(answer) { url in
      let token = try await fetch(
        aws(),
        environment: [
          "AWS_CONTAINER_CREDENTIALS_FULL_URI": "\(url)/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file,
        ])
      #expect(token.principal == "POD" && token.expiresAt == Self.now + 900_000)
      #expect(try query(token).contains("X-Amz-Security-Token=st"))
    }
  }

  @Test func `without credentials the error names every place`() async {
    let text = await failure(aws())
    for name in ["kafka.oauth.accessKeyId", "AWS_ACCESS_KEY_ID", "AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
      #expect(text?.contains(name) == true)
    }
  }
}
