// Registers schemas with a registry that has Confluent's REST API.
// https://docs.confluent.io/platform/current/schema-registry/develop/api.html

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceCore

/// A schema registry.
struct SchemaRegistry: Sendable {
  private let url: String
  private let headers: APIHeaders
  private let http: any HTTPExchange

  /// How long a registration may take.
  private static let timeLimit = Duration.seconds(30)

  /// Creates a client; nil if no registry is configured.
  /// - Throws: ``MillraceError`` if the password's file cannot be read.
  init?(_ settings: DecoderSettings, _ http: any HTTPExchange) throws(MillraceError) {
    guard let url = settings.registryURL else { return nil }
    var headers: APIHeaders = [
      "Content-Type": "application/vnd.schemaregistry.v1+json", "Accept": "application/vnd.schemaregistry.v1+json",
    ]
    if let user = settings.registryUser, let file = settings.registryPasswordFile {
      let password: SecretFile
      do { password = try SecretFile(file) } catch { throw error.under(key: "schemaRegistry.passwordFile") }
      let credentials = password.withBytes { Base64.encodeStandard(Array("\(user):".utf8) + $0) }
      headers.fields.append(
        .init(name: "Authorization", value: "Basic " + String(decoding: credentials, as: UTF8.self)))
    }
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    (self.headers, self.http) = (headers, http)
  }

  /// Registers the schema of a topic's values, and returns its id. A schema that is registered already keeps its id.
  /// - Throws: ``MillraceError`` if the registry does not answer within 30 seconds or refuses the schema.
  func register(_ schema: JSONObject, for topic: String) async throws -> UInt32 {
    let body: JSONObject = [
      "schemaType": "JSON", "schema": .string(String(decoding: schema.serialized(), as: UTF8.self)),
    ]
    let request = ExchangeRequest(
      method: .post, url: "\(url)/subjects/\(topic)-value/versions", headers: headers, body: body.serialized())
    let answer = try await send(request)
    guard answer.status == 200, let object = try? JSONObject(parsing: answer.body),
      case .integer(let number)? = object["id"], let id = UInt32(exactly: number)
    else {
      var detail = "the schema registry answered \(answer.status)"
      if let object = try? JSONObject(parsing: answer.body), case .string(let message)? = object["message"] {
        detail += ": \(message)"
      }
      throw MillraceError(
        .unavailable, "\(detail), so the schema of \(topic) is not registered", at: url,
        remedy: answer.status == 401 || answer.status == 403
          ? "check schemaRegistry.user and its password, and its right to register \(topic)-value"
          : "check the URL, and that the registry accepts the subject \(topic)-value")
    }
    return id
  }

  private func send(_ request: ExchangeRequest) async throws -> ExchangeAnswer {
    let (http, url) = (http, url)
    return try await withThrowingTaskGroup(of: ExchangeAnswer.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        do throws(TransportFailure) { return try await http.send(request) } catch {
          throw MillraceError(
            .unavailable, "no answer from the schema registry: \(error.what)", at: url,
            remedy: "check schemaRegistry.url, and that this process can reach it")
        }
      }
      group.addTask {
        try await Task.sleep(for: Self.timeLimit)
        throw MillraceError(
          .unavailable, "no answer from the schema registry within \(Self.timeLimit.components.seconds) s", at: url,
          remedy: "check schemaRegistry.url, and that this process can reach it")
      }
      guard let answer = try await group.next() else { throw CancellationError() }
      return answer
    }
  }
}
