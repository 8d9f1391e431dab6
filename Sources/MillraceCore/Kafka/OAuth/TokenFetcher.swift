// Fetches tokens for a cluster's clients as `kafka.oauth` says.

internal import AppStore
internal import AppStoreServerAPI
internal import KafkaClient

/// Fetches tokens for SASL/OAUTHBEARER.
struct TokenFetcher: Sendable {
  let settings: OAuthSettings
  /// The environment variables, for AWS credentials.
  let environment: [String: String]
  /// The system's time.
  let now: @Sendable () -> Timestamp

  /// How long a token without an end of its own is used before its file is read again.
  private static let unknownLifetime: Int64 = 60_000

  /// Fetches a token.
  /// - Throws: ``MillraceError`` that names the key, the file or the URL. It holds no secret.
  func fetch() async throws -> KafkaToken {
    switch settings.method {
    case .oidc: try await fromServer()
    case .file, nil: try fromFile()
    case .aws: try await fromAWS()
    }
  }

  // OpenID Connect: client credentials, RFC 6749, section 4.4.
  private func fromServer() async throws -> KafkaToken {
    let url = try require(settings.tokenURL, "tokenURL")
    let id = try require(settings.clientId, "clientId")
    let secret: SecretFile
    let secretFile = try require(settings.clientSecretFile, "clientSecretFile")
    do { secret = try SecretFile(secretFile) } catch { throw error.under(key: "kafka.oauth.clientSecretFile") }
    // Both are form-encoded first (section 2.3.1).
    let credentials = secret.withBytes {
      Base64.encodeStandard(
        Array("\(id.percentEncoded):\(String(decoding: $0, as: UTF8.self).percentEncoded)".utf8))
    }
    var form = [QueryItem("grant_type", "client_credentials")]
    if let scope = settings.scope { form.append(QueryItem("scope", scope)) }
    let server = TokenServer(url: url, key: "kafka.oauth.tokenURL", tls: TLSFiles(authority: settings.caFile))
    let start = now().millisecondsSince1970
    let body = try await server.ask(
      ExchangeRequest(
        method: .post, url: url,
        headers: [
          "Authorization": "Basic " + String(decoding: credentials, as: UTF8.self),
          "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
        ], body: Array(form.encodedQuery.utf8)))
    guard let answer = try? JSONObject(parsing: body), case .string(let token)? = answer["access_token"], !token.isEmpty
    else { throw server.unavailable("sent no access_token") }
    let claims = TokenClaims(token.utf8)
    var expiresAt = claims.expiresAt
    if case .integer(let seconds)? = answer["expires_in"], (1...Self.longestLifetime).contains(seconds) {
      expiresAt = min(expiresAt ?? .max, start + seconds * 1_000)
    }
    guard let expiresAt else { throw server.unavailable("sent no expires_in") }
    return KafkaToken(
      value: token, expiresAt: expiresAt, principal: claims.subject ?? id, extensions: settings.extensions)
  }

  /// Ten years, in seconds.
  private static let longestLifetime: Int64 = 315_360_000

  private func fromFile() throws -> KafkaToken {
    let path = try require(settings.tokenFile, "tokenFile")
    let file: SecretFile
    do { file = try SecretFile(path) } catch { throw error.under(key: "kafka.oauth.tokenFile") }
    let (token, claims) = file.withBytes { (String(decoding: $0, as: UTF8.self), TokenClaims($0)) }
    let present = now().millisecondsSince1970
    if let expiresAt = claims.expiresAt, expiresAt <= present {
      throw MillraceError(
        .unavailable, "the token expired at \(Timestamp(millisecondsSince1970: expiresAt))",
        at: "kafka.oauth.tokenFile: \(path)", remedy: "check the process that renews the file")
    }
    return KafkaToken(
      value: token, expiresAt: claims.expiresAt ?? present + Self.unknownLifetime,
      principal: claims.subject ?? "token-file",
      extensions: settings.extensions)
  }

  private func fromAWS() async throws -> KafkaToken {
    let region = try require(settings.region, "region")
    let credentials = try await AWSCredentials.find(settings, environment: environment, region: region)
    return MSKToken(region: region, credentials: credentials, at: now()).token
  }

  private func require(_ value: String?, _ key: String) throws -> String {
    guard let value else {
      throw MillraceError(.configuration, "it is not set", at: "kafka.oauth.\(key)", remedy: "set it")
    }
    return value
  }
}
