// The expected answer to each forgery. Deliberately independent of the ingress's own table.
import AppStore
import AppStoreSigning

/// A body that the ingress must refuse.
struct Forged {
  var entry: JournalEntry
  var body: [UInt8]
  var path: String

  private init(
    _ group: JournalEntry.Group, _ label: String, _ status: Int, _ destination: JournalEntry.Destination,
    value: [UInt8], body: [UInt8], path: String
  ) {
    entry = JournalEntry(
      group: group, label: label, expectedStatus: status, status: 0, destination: destination, value: value)
    self.body = body
    self.path = path
  }

  /// A forged token, posted as version 2.
  init(_ forgery: Forgery) {
    let (group, status, destination) = Self.consequence(forgery)
    self.init(
      group, forgery.label, status, destination, value: forgery.jws,
      body: Array("{\"signedPayload\":\"".utf8) + forgery.jws + Array("\"}".utf8), path: "/v2")
  }

  private static func consequence(
    _ forgery: Forgery
  ) -> (JournalEntry.Group, status: Int, JournalEntry.Destination) {
    switch forgery.expectation {
    case .refused("format"), .refused("certificate"): (.envelope, 400, .nowhere)
    case .refused("algorithm"): (.envelope, 401, .nowhere)
    case .refused("signature"): (.signature, 401, .nowhere)
    // A sound token whose only fault is its chain could be a change at Apple: answered with 503 and kept in the
    // quarantine.
    case .refused("chain"), .refused("chain-length"):
      forgery.isOnlyChainFault ? (.chain, 503, .quarantine) : (.chain, 401, .nowhere)
    case .refused("app-identifier"), .refused("environment"): (.identity, 503, .quarantine)
    case .refused: (.envelope, 401, .nowhere)
    case .innerMismatch: (.inner, 401, .quarantine)
    case .innerForged: (.inner, forgery.isOnlyChainFault ? 503 : 401, .quarantine)
    }
  }

  /// Version 1 bodies without the right secret, or with the secret of an app that is not configured.
  static func v1(secret: String, at date: Timestamp) -> [Forged] {
    func body(_ password: String?, app: SampleApp = Workspace.legacyApp) -> [UInt8] {
      var bodies = SampleNotificationsV1(app: app, password: password, seed: Workspace.seed &+ 2)
      return bodies.next(.cancel, at: date).body
    }
    func refused(_ label: String, _ password: String?) -> Forged {
      let body = body(password)
      return Forged(.v1Secret, label, 401, .nowhere, value: body, body: body, path: "/v1")
    }
    let stranger = SampleApp(bundleId: Workspace.legacyApp.bundleId + ".stranger")
    return [
      refused("no-secret", nil),
      refused("wrong-secret", String(repeating: "0", count: secret.utf8.count)),
      refused("secret-cut-short", String(secret.dropLast())),
      refused("secret-and-more", secret + "0"),
      Forged(
        .identity, "v1-other-bundle", 503, .quarantine, value: body(nil, app: stranger),
        body: body(secret, app: stranger), path: "/v1"),
    ]
  }

  /// Requests that are not notifications.
  /// - Parameter limit: `ingress.maxBodyBytes.v2`.
  static func requests(limit: Int) -> [Forged] {
    func request(_ label: String, _ status: Int, _ body: [UInt8], _ path: String) -> Forged {
      Forged(.request, label, status, .nowhere, value: body, body: body, path: path)
    }
    return [
      request("empty-body", 400, [], "/v2"),
      request("not-json", 400, Array("signedPayload=abc".utf8), "/v2"),
      request("no-signed-payload", 400, Array("{}".utf8), "/v2"),
      request("v1-not-json", 400, [0xFF, 0xFE, 0x00], "/v1"),
      request("too-large", 413, [UInt8](repeating: UInt8(ascii: " "), count: limit + 1), "/v2"),
      request("other-path", 404, Array("{}".utf8), "/v3"),
    ]
  }
}
