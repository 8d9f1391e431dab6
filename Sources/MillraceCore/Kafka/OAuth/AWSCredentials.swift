// AWS credentials, from the first of these places that has them: the configuration, the environment, a web identity
// (Amazon EKS: roles for service accounts), the agent of a pod (EKS Pod Identity).
// https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html

internal import AppStore
internal import AppStoreServerAPI

/// The credentials of an AWS identity. Printing them shows no secret.
struct AWSCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  var accessKeyId: String
  var secretAccessKey: String
  /// Set for temporary credentials.
  var sessionToken: String?
  /// The end of temporary credentials, if it is known.
  var expiresAt: Timestamp?

  var description: String { "AWS credentials of \(accessKeyId)" }
  var debugDescription: String { description }

  /// Finds the credentials.
  /// - Throws: ``MillraceError`` that names the key, the variable or the URL.
  static func find(
    _ settings: OAuthSettings, environment: [String: String], region: String
  ) async throws -> AWSCredentials {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let id = settings.accessKeyId, let file = settings.secretAccessKeyFile {
      return AWSCredentials(accessKeyId: id, secretAccessKey: try secret(file, "kafka.oauth.secretAccessKeyFile"))
    }
    if let id = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") {
      return AWSCredentials(accessKeyId: id, secretAccessKey: secret, sessionToken: value("AWS_SESSION_TOKEN"))
    }
    if let file = value("AWS_WEB_IDENTITY_TOKEN_FILE"), let role = value("AWS_ROLE_ARN") {
      return try await assume(
        role, session: value("AWS_ROLE_SESSION_NAME") ?? "millrace",
        token: try secret(file, "AWS_WEB_IDENTITY_TOKEN_FILE"),
        at: value("AWS_ENDPOINT_URL_STS") ?? Self.tokenService(in: region), caFile: settings.caFile)
    }
    if let url = value("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
      var authorization = value("AWS_CONTAINER_AUTHORIZATION_TOKEN")
      if let file = value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        authorization = try secret(file, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
      }
      return try await askAgent(url, authorization, caFile: settings.caFile)
    }
    throw MillraceError(
      .configuration,
      "no AWS credentials: neither kafka.oauth.accessKeyId nor AWS_ACCESS_KEY_ID, "
        + "AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN, or AWS_CONTAINER_CREDENTIALS_FULL_URI is set",
      at: "kafka.oauth.method", remedy: "give the process an IAM role, or set kafka.oauth.accessKeyId")
  }

  private static func tokenService(in region: String) -> String {
    "https://sts.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
  }

  // https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
  private static func assume(
    _ role: String, session: String, token: String, at url: String, caFile: String?
  ) async throws -> AWSCredentials {
    let form = [
      QueryItem("Action", "AssumeRoleWithWebIdentity"), QueryItem("Version", "2011-06-15"), QueryItem("RoleArn", role),
      QueryItem("RoleSessionName", session), QueryItem("WebIdentityToken", token),
    ].encodedQuery
    let server = TokenServer(
      url: url, key: "AWS_ROLE_ARN and the role's trust policy", tls: TLSFiles(authority: caFile))
    let body = try await server.ask(
      ExchangeRequest(
        method: .post, url: url.hasSuffix("/") ? url : "\(url)/",
        headers: ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/xml"],
        body: Array(form.utf8)))
    let answer = String(decoding: body, as: UTF8.self)
    guard let id = TokenServer.element("AccessKeyId", of: answer),
      let secret = TokenServer.element("SecretAccessKey", of: answer),
      let session = TokenServer.element("SessionToken", of: answer)
    else { throw server.unavailable("sent no credentials") }
    return AWSCredentials(
      accessKeyId: id, secretAccessKey: secret, sessionToken: session,
      expiresAt: TokenServer.element("Expiration", of: answer).flatMap { Timestamp(rfc3339: $0) })
  }

  // https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html
  private static func askAgent(
    _ url: String, _ authorization: String?, caFile: String?
  ) async throws -> AWSCredentials {
    let server = TokenServer(
      url: url, key: "AWS_CONTAINER_CREDENTIALS_FULL_URI and the pod's identity", tls: TLSFiles(authority: caFile))
    var headers: APIHeaders = ["Accept": "application/json"]
    if let authorization { headers.fields.append(.init(name: "Authorization", value: authorization)) }
    let body = try await server.ask(ExchangeRequest(method: .get, url: url, headers: headers))
    guard let answer = try? JSONObject(parsing: body), case .string(let id)? = answer["AccessKeyId"],
      case .string(let secret)? = answer["SecretAccessKey"]
    else { throw server.unavailable("sent no credentials") }
    func text(_ name: String) -> String? { if case .string(let text)? = answer[name] { text } else { nil } }
    return AWSCredentials(
      accessKeyId: id, secretAccessKey: secret, sessionToken: text("Token"),
      expiresAt: text("Expiration").flatMap { Timestamp(rfc3339: $0) })
  }

  private static func secret(_ path: String, _ key: String) throws(MillraceError) -> String {
    do throws(MillraceError) {
      return try SecretFile(path).withBytes { String(decoding: $0, as: UTF8.self) }
    } catch {
      throw error.under(key: key)
    }
  }
}
