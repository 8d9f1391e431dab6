import CRDKafka
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(15))) struct BrokerProblemTests {
  @Test func `the kind and broker of a problem are parsed from librdkafka's text`() throws {
    let table: [(rd_kafka_resp_err_t, String, BrokerProblem.Kind, String)] = [
      (
        RD_KAFKA_RESP_ERR__TRANSPORT,
        "127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in state CONNECT)",
        .connection, "127.0.0.1:1: Connect to ipv4#127.0.0.1:1 failed: Connection refused"
      ),
      (
        RD_KAFKA_RESP_ERR__RESOLVE,
        "ssl://nowhere.invalid:9093/bootstrap: Failed to resolve 'nowhere.invalid:9093': Name or service not known "
          + "(after 5ms in state CONNECT)", .name,
        "nowhere.invalid:9093: the name cannot be resolved: Failed to resolve 'nowhere.invalid:9093': Name or service "
          + "not known"
      ),
      (
        RD_KAFKA_RESP_ERR__AUTHENTICATION,
        "Failed to acquire SASL OAUTHBEARER token: http://t/token: the server answered 401; check the URL", .token,
        "no token: http://t/token: the server answered 401, check the URL"
      ),
      (
        RD_KAFKA_RESP_ERR__SSL,
        "ssl://k:9093/2: SSL handshake failed: error:0A00010B:SSL routines::wrong version number: connecting to a "
          + "PLAINTEXT broker listener? (after 2ms in state SSL_HANDSHAKE)", .tls,
        "k:9093: the TLS handshake failed: SSL handshake failed: error:0A00010B:SSL routines::wrong version number: "
          + "connecting to a PLAINTEXT broker listener?"
      ),
      (
        RD_KAFKA_RESP_ERR__AUTHENTICATION,
        "sasl_plaintext://k:9092/bootstrap: SASL authentication error: Authentication failed; invalid credentials "
          + "(after 5ms in state AUTH_REQ, 3 identical error(s) suppressed)", .authentication,
        "k:9092: authentication failed: SASL authentication error: Authentication failed, invalid credentials"
      ),
      (
        RD_KAFKA_RESP_ERR__TRANSPORT,
        "k:9092/1: ApiVersionRequest failed: Local: Timed out: probably due to broker version < 0.10 (see "
          + "api.version.request configuration) (after 10012ms in state APIVERSION_QUERY)", .connection,
        "k:9092: ApiVersionRequest failed: Local: Timed out"
      ),
      (
        RD_KAFKA_RESP_ERR__TRANSPORT,
        "[::1]:9092/bootstrap: Disconnected while requesting ApiVersion: might be caused by incorrect "
          + "security.protocol configuration (connecting to a SSL listener?) or broker version is < 0.10 (see "
          + "api.version.request) (after 11ms in state APIVERSION_QUERY)", .securityProtocol,
        "[::1]:9092: the listener probably speaks another protocol: Disconnected while requesting ApiVersion: might be "
          + "caused by incorrect security.protocol configuration (connecting to a SSL listener?) or broker version is "
          + "< 0.10 (see api.version.request)"
      ),
    ]
    for (code, text, kind, description) in table {
      let problem = try #require(BrokerProblem(code: .of(code), text: text), "\(text)")
      #expect(problem.kind == kind && problem.description == description)
    }
    #expect(BrokerProblem(code: .of(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN), text: "2/2 brokers are down") == nil)
    #expect(BrokerProblem(code: .of(RD_KAFKA_RESP_ERR__TRANSPORT), text: "GroupCoordinator: it left") == nil)
  }

  @Test(arguments: [
    (0x0200_02ff as Int32, "SCRAM-SHA-512", "2.0.2"), (0x0206_00ff, "SCRAM-SHA-256", "2.6.0"),
    (0x0206_01ff, "SCRAM-SHA-512", nil), (0x0208_00ff, "SCRAM-SHA-512", nil), (0x0210_00ff, "SCRAM-SHA-256", nil),
    (0x0200_02ff, "PLAIN", nil),
  ])
  func `a refused SCRAM names the version of librdkafka only if Kafka 4 refuses that version`(
    version: Int32, mechanism: String, named: String?
  ) throws {
    let said =
      "SASL authentication error: Authentication failed during authentication due to invalid credentials with SASL "
      + "mechanism \(mechanism)"
    let problem = try #require(
      BrokerProblem(
        code: .of(RD_KAFKA_RESP_ERR__AUTHENTICATION),
        text: "sasl_plaintext://k:9092/bootstrap: \(said) (after 5ms in state AUTH_REQ)", version: version))
    #expect(problem.kind == (named == nil ? .authentication : .oldSCRAM) && problem.needsCorrection)
    let cause = named.map {
      " (librdkafka \($0) repeats the client nonce, which Kafka refuses since 4.0)"
    }
    #expect(problem.description == "k:9092: authentication failed: \(said)\(cause ?? "")")
  }

  @Test func `each broker keeps its last problem, and a broken connection does not replace a specific one`() {
    var problems = BrokerProblems()
    problems.take(.of(RD_KAFKA_RESP_ERR__TRANSPORT), "a:1/bootstrap: Connection refused")
    problems.take(.of(RD_KAFKA_RESP_ERR__AUTHENTICATION), "b:1/bootstrap: no such user")
    problems.take(.of(RD_KAFKA_RESP_ERR__TRANSPORT), "b:1/bootstrap: Disconnected")
    problems.take(.of(RD_KAFKA_RESP_ERR__RESOLVE), "a:1/bootstrap: Failed to resolve")
    #expect(problems.all.map(\.broker) == ["a:1", "b:1"])
    #expect(problems.all.map(\.kind) == [.name, .authentication])
  }

  @Test func `secrets of the configuration are masked`() {
    var problems = BrokerProblems(properties: [
      "sasl.password": "hunter2", "sasl.oauthbearer.config": "principal=hunter3", "client.id": "millrace",
    ])
    problems.take(
      .of(RD_KAFKA_RESP_ERR__AUTHENTICATION), "k:1/bootstrap: millrace sent hunter2 with principal=hunter3")
    #expect(problems.all.map(\.words) == ["millrace sent ******** with ********"])
  }

  @Test func `a refused connection is reported during the call and in its error`() async {
    let heard = Mutex<[[BrokerProblem]]>([])
    var configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
    configuration.reporter = ConnectionReporter { problems in heard.withLock { $0.append(problems) } }
    let admin = KafkaAdmin(configuration)
    let error = await #expect(throws: KafkaError.self) {
      try await admin.describeCluster(timeout: .seconds(5))
    }
    #expect(heard.withLock { $0 }.first?.map(\.broker) == ["127.0.0.1:1"])
    #expect(error?.problems.map(\.kind) == [.connection])
    #expect(error?.reason.contains("Connection refused") == true, "\(error?.reason ?? "")")
    #expect(error?.isRetriable == true)
  }

  @Test func `a reporter ends the first attempt if every broker refuses, and not after the cluster has answered`() {
    func refusal(_ broker: String) -> BrokerProblem {
      BrokerProblem(broker: broker, kind: .connection, words: "Connect to ipv4#127.0.0.1:1 failed: Connection refused")
    }
    let reporter = ConnectionReporter(endingAtRefusalsBy: 2) { _ in }
    let other = BrokerProblem(broker: "b:1", kind: .connection, words: "Disconnected")
    #expect(
      !reporter.ends(at: []) && !reporter.ends(at: [refusal("a:1")]) && !reporter.ends(at: [refusal("a:1"), other]))
    #expect(reporter.ends(at: [refusal("a:1"), refusal("b:1")]))
    reporter.connected()
    #expect(!reporter.ends(at: [refusal("a:1"), refusal("b:1")]))
    #expect(!ConnectionReporter { _ in }.ends(at: [refusal("a:1")]))
  }

  @Test func `a TLS client of a plain-text listener fails early, with the reason`() async throws {
    let listener = try PlainListener()
    defer { listener.close() }
    let admin = KafkaAdmin(
      KafkaConfiguration(
        bootstrapServers: "127.0.0.1:\(listener.port)", properties: ["security.protocol": "ssl"]))
    let start = ContinuousClock.now
    let error = await #expect(throws: KafkaError.self) {
      try await admin.describeCluster(timeout: .seconds(600))
    }
    #expect(error?.problems.map(\.kind) == [.tls], "\(error.map { "\($0)" } ?? "")")
    // Long before the limit, even on a busy machine.
    #expect(ContinuousClock.now - start < .seconds(300))
  }
}

/// A listener without TLS: answers every connection in plain text.
private final class PlainListener: Sendable {
  let port: UInt16
  private let socket: Int32

  init() throws {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, size) == 0 && listen(socket, 16) == 0 && getsockname(socket, address, &size) == 0
      }
    }
    try #require(isListening)
    self.socket = socket
    port = UInt16(bigEndian: address.sin_port)
    // Runs until the socket is closed.
    DispatchQueue.global().async {
      while true {
        let client = accept(socket, nil, nil)
        guard client >= 0 else { return }
        let answer = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
        _ = Glibc.close(client)
      }
    }
  }

  func close() {
    shutdown(socket, Int32(SHUT_RDWR))
    _ = Glibc.close(socket)
  }
}
