/// `kafka.oauth`: the source of the Kafka clients' tokens for SASL/OAUTHBEARER.
package struct OAuthSettings: Sendable, Hashable {
  /// The source of tokens.
  package enum Method: String, Sendable, Hashable, CaseIterable {
    /// An OpenID Connect server, with client credentials.
    case oidc
    /// A file that another process rotates.
    case file
    /// AWS MSK IAM: the token is a signed request.
    case aws
  }

  /// The source of tokens; `nil`: the clients use none.
  package var method: Method?
  /// The token endpoint of the OpenID Connect server.
  package var tokenURL: String?
  /// The client's id at this server.
  package var clientId: String?
  /// The file of the client's secret.
  package var clientSecretFile: String?
  /// The scope that is requested; `nil`: the client's default.
  package var scope: String?
  /// The PEM file of the certificates that the server's certificate must lead to; `nil`: the system's.
  package var caFile: String?
  /// The file that holds the token.
  package var tokenFile: String?
  /// SASL extensions that are sent with every token.
  package var extensions: [String: String] = [:]
  /// The AWS region of the cluster.
  package var region: String?
  /// The id of a static AWS access key; `nil`: credentials come from the environment.
  package var accessKeyId: String?
  /// The file of its secret.
  package var secretAccessKeyFile: String?

  /// No tokens.
  package init() {}

  /// The keys that a method needs and those that it may have, with whether they are set.
  private var keys: [(name: String, isSet: Bool, required: Set<Method>, allowed: Set<Method>)] {
    [
      ("tokenURL", tokenURL != nil, [.oidc], [.oidc]), ("clientId", clientId != nil, [.oidc], [.oidc]),
      ("clientSecretFile", clientSecretFile != nil, [.oidc], [.oidc]), ("scope", scope != nil, [], [.oidc]),
      ("caFile", caFile != nil, [], [.oidc, .aws]), ("tokenFile", tokenFile != nil, [.file], [.file]),
      ("extensions", !extensions.isEmpty, [], [.oidc, .file]), ("region", region != nil, [.aws], [.aws]),
      ("accessKeyId", accessKeyId != nil, secretAccessKeyFile == nil ? [] : [.aws], [.aws]),
      ("secretAccessKeyFile", secretAccessKeyFile != nil, accessKeyId == nil ? [] : [.aws], [.aws]),
    ]
  }

  /// The keys that contradict the method: what is wrong, the key, and the remedy.
  var faults: [(what: String, key: String, remedy: String)] {
    guard let method else {
      return keys.filter(\.isSet).prefix(1).map {
        ("kafka.oauth has no method", $0.name, "set kafka.oauth.method, or remove the key")
      }
    }
    return keys.compactMap { key in
      if key.isSet, !key.allowed.contains(method) {
        return ("the method \(method.rawValue) does not use it", key.name, "remove it")
      }
      if !key.isSet, key.required.contains(method) {
        return ("the method \(method.rawValue) needs it", key.name, "set it")
      }
      return nil
    }
  }
}

extension OAuthSettings {
  /// Reads each file once, to find missing ones before a client needs them.
  /// - Throws: ``MillraceError`` that names the key and the file.
  package func readFiles() throws(MillraceError) {
    for (name, file) in [
      ("clientSecretFile", clientSecretFile), ("tokenFile", tokenFile), ("secretAccessKeyFile", secretAccessKeyFile),
      ("caFile", caFile),
    ] {
      guard let file else { continue }
      do throws(MillraceError) { _ = try Files.read(file) } catch { throw error.under(key: "kafka.oauth.\(name)") }
    }
  }
}
