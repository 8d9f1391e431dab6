internal import CRDKafka
internal import Synchronization

/// The reason why a client cannot reach a broker, from librdkafka's error events.
public struct BrokerProblem: Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  public enum Kind: Sendable, Hashable {
    /// The broker's name has no address.
    case name
    /// The connection failed or was lost.
    case connection
    /// The connection was lost at the first request: the listener probably uses another protocol.
    case securityProtocol
    /// The TLS handshake failed.
    case tls
    /// The broker does not accept the credentials or the authentication mechanism.
    case authentication
    /// The broker refused SCRAM, and this librdkafka is too old for SCRAM with Kafka 4.0 and later. Older brokers refuse
    /// only the credentials.
    case oldSCRAM
    /// There is no token for the broker.
    case token
  }

  /// `host:port`, as configured or as the cluster advertises it; empty if there is no token for any broker.
  public var broker: String
  /// The kind of failure.
  public var kind: Kind
  /// librdkafka's message, on one line. Of ``Kind/oldSCRAM`` it also names the version of librdkafka and the cause.
  public var words: String

  /// `broker: kind: message`.
  public var description: String {
    switch kind {
    case .name: "\(broker): the name cannot be resolved: \(words)"
    case .connection: "\(broker): \(words)"
    case .securityProtocol: "\(broker): the listener probably speaks another protocol: \(words)"
    case .tls: "\(broker): the TLS handshake failed: \(words)"
    case .authentication, .oldSCRAM: "\(broker): authentication failed: \(words)"
    case .token: "no token: \(words)"
    }
  }

  /// Whether the broker's host answered that no process listens on the port.
  var isRefusal: Bool { kind == .connection && words.hasSuffix("Connection refused") }

  /// Whether retrying cannot help: the configuration or the cluster's users have to change.
  public var needsCorrection: Bool { kind == .tls || kind == .authentication || kind == .oldSCRAM }

  /// Creates a problem, for tests.
  package init(broker: String, kind: Kind, words: String) {
    self.broker = broker
    self.kind = kind
    self.words = words
  }

  /// Parses the text of an error event, such as
  /// `sasl_ssl://host:9093/bootstrap: Connect to ipv4#10.0.0.1:9093 failed: Connection refused (after 0ms in state
  /// CONNECT)`.
  ///
  /// - Parameter version: The version of librdkafka, as `rd_kafka_version` encodes it.
  /// - Returns: nil for errors that do not name a broker, other than a missing token.
  init?(code: KafkaError.Code, text: String, version: Int32 = rd_kafka_version()) {
    if text.hasPrefix(Self.noToken) {
      (broker, kind, words) = ("", .token, Self.oneLine(text.dropFirst(Self.noToken.count)))
      return
    }
    guard let separator = text.firstRange(of: ": ") else { return nil }
    var name = text[..<separator.lowerBound]
    if let scheme = name.firstRange(of: "://") { name = name[scheme.upperBound...] }
    // `/bootstrap` or the broker's id.
    if let slash = name.lastIndex(of: "/") { name = name[..<slash] }
    guard name.contains(":"), !name.contains(where: \.isWhitespace) else { return nil }
    var words = text[separator.upperBound...]
    // The duration and repeat count differ each time. Without them, equal errors compare as equal.
    if let after = words.firstRange(of: " (after ") { words = words[..<after.lowerBound] }
    // A guess: a broker that is stopped does not answer this request either.
    if let guess = words.firstRange(of: ": probably due to broker version") { words = words[..<guess.lowerBound] }
    switch code.rawValue {
    case RD_KAFKA_RESP_ERR__RESOLVE.rawValue: kind = .name
    case RD_KAFKA_RESP_ERR__SSL.rawValue: kind = .tls
    case RD_KAFKA_RESP_ERR__AUTHENTICATION.rawValue, RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE.rawValue,
      RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED.rawValue, RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM.rawValue:
      // The broker's message names the mechanism, and is the same for a wrong password.
      kind = version < Self.scramMended && words.contains("SCRAM") ? .oldSCRAM : .authentication
    default:
      kind =
        words.contains("security.protocol") || words.contains("SSL listener") ? .securityProtocol : .connection
    }
    broker = String(name)
    self.words = Self.oneLine(words)
    if kind == .oldSCRAM {
      self.words += " (librdkafka \(Self.text(of: version)) repeats the client nonce, which Kafka refuses since 4.0)"
    }
  }

  /// librdkafka 2.6.1, the first that does not repeat the client nonce of SCRAM (librdkafka pull request 4895).
  private static let scramMended: Int32 = 0x0206_0100

  /// `2.0.2` for 0x020002ff.
  private static func text(of version: Int32) -> String {
    [24, 16, 8].map { String(version >> $0 & 0xff) }.joined(separator: ".")
  }

  private static let noToken = "Failed to acquire SASL OAUTHBEARER token: "

  // In Millrace's messages the action follows a semicolon.
  private static func oneLine(_ words: Substring) -> String {
    String(words.map { $0.isNewline ? " " : $0 == ";" ? "," : $0 })
  }
}

/// The last problem of each broker of a client.
struct BrokerProblems: Sendable, Hashable {
  private(set) var all: [BrokerProblem] = []
  /// Values that are masked.
  let secrets: [String]

  init(secrets: [String] = []) { self.secrets = secrets }

  /// Masks the values of properties that may be secrets, judged by their names.
  init(properties: [String: String]) {
    secrets = properties.filter { name, value in
      value.utf8.count >= 3
        && ["password", "secret", "token", "passphrase", "private", "config", "pem"].contains {
          name.contains($0)
        }
    }.map(\.value)
  }

  mutating func take(_ code: KafkaError.Code, _ text: String) {
    guard var problem = BrokerProblem(code: code, text: text) else { return }
    for secret in secrets { problem.words = problem.words.replacing(secret, with: "********") }
    if let index = all.firstIndex(where: { $0.broker == problem.broker }) {
      // A lost connection is the consequence of the other problem.
      if problem.kind == .connection, all[index].kind != .connection { return }
      all[index] = problem
    } else {
      all.append(problem)
    }
  }

  /// Takes the pending error events of a client that has no poll loop.
  mutating func drain(_ queue: OpaquePointer) {
    while let event = rd_kafka_queue_poll(queue, 0) {
      if rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR,
        let text = rd_kafka_event_error_string(event).map({ String(cString: $0) })
      {
        take(.of(rd_kafka_event_error(event)), text)
      }
      rd_kafka_event_destroy(event)
    }
  }
}

/// Reports broker problems while a client is still trying to reach its cluster.
package final class ConnectionReporter: Sendable, Hashable {
  private let report: @Sendable ([BrokerProblem]) -> Void
  private let last = Mutex<[BrokerProblem]?>(nil)
  private let servers: Int?
  private let hasConnected = Atomic(false)

  /// - Parameters:
  ///   - servers: The number of configured brokers. The first request ends when all of them refuse the connection. If
  ///     it is nil, only the time limit ends the request.
  ///   - report: Receives the last problem of each broker when these have changed; an empty list if none is known.
  ///     Called on a thread of the client: return quickly.
  package init(endingAtRefusalsBy servers: Int? = nil, _ report: @escaping @Sendable ([BrokerProblem]) -> Void) {
    (self.servers, self.report) = (servers, report)
  }

  /// Called when the cluster has answered. Later refusals are outages.
  func connected() { hasConnected.store(true, ordering: .relaxed) }

  /// Whether the client is to stop trying.
  func ends(at problems: [BrokerProblem]) -> Bool {
    guard let servers, !hasConnected.load(ordering: .relaxed) else { return false }
    return problems.count >= servers && problems.allSatisfy(\.isRefusal)
  }

  func take(_ problems: [BrokerProblem]) {
    let isNews = last.withLock { last in
      guard last != problems else { return false }
      last = problems
      return true
    }
    if isNews { report(problems) }
  }

  package static func == (left: ConnectionReporter, right: ConnectionReporter) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
