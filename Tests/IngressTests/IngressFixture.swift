// A running ingress for one test. It has its own certificate chain and a free port, and uses the embedded cluster or
// the cluster in KAFKA_BOOTSTRAP_SERVERS.

import MillraceTime
import AppStore
import AppStoreSigning
import AsyncHTTPClient
import Foundation
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import TestEnvironment
import Testing

@testable import Ingress

/// A response as a client receives it.
struct Answer: Sendable, Hashable {
  var status: Int
  var contentType: String?
  var retryAfter: String?
  var body: String
}

/// Signs and posts notifications and reads the resulting records.
struct IngressFixture {
  static let signedDate = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  static let password = "0123456789abcdef0123456789abcdef"

  let chain: SigningChain
  let app = SampleApp()
  let directory: URL
  var configuration: MillraceConfiguration

  /// Creates the configuration, with files for the root certificate and the shared secret.
  init() throws {
    chain = try SigningChain.generate(
      notBefore: Self.signedDate + .seconds(-86_400), notAfter: Self.signedDate + .seconds(86_400))
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("millrace-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let root = directory.appendingPathComponent("root.der")
    let secret = directory.appendingPathComponent("secret")
    try Data(chain.rootDER).write(to: root)
    try Data(Self.password.utf8).write(to: secret)
    var configuration = MillraceConfiguration()
    configuration.kafka.durability = .relaxed
    configuration.topics.directory = Project.path("topics")
    configuration.topics.lanes = 3
    configuration.topics.prefix = ClusterUnderTest.topicPrefix
    configuration.trust.roots = [root.path]
    var settings = AppSettings()
    settings.bundleId = app.bundleId
    settings.appAppleId = app.appAppleId
    settings.environments = [.production]
    settings.sharedSecretFiles = [secret.path]
    configuration.apps = [settings]
    configuration.ingress.host = "127.0.0.1"
    configuration.ingress.port = 0
    // Long timeouts, which tests of timeouts override. On a busy machine a client may pause for seconds in the middle
    // of a request. If the ingress then closed the connection, it would look like a lost answer.
    configuration.ingress.headerTimeout = .seconds(300)
    configuration.ingress.bodyTimeout = .seconds(60)
    configuration.ingress.deadline = .seconds(120)
    self.configuration = configuration
  }

  func removeFiles() {
    do { try FileManager.default.removeItem(at: directory) } catch { Issue.record(error) }
  }

  /// Runs the ingress while `body` runs, then stops it gracefully. Rethrows errors of both.
  func run<Value: Sendable>(
    metrics: PrometheusRegistry = PrometheusRegistry(), gate: NetworkFaultInjector? = nil,
    details change: (inout IngressServer.Details) -> Void = { _ in },
    _ body: (RunningIngress) async throws -> Value
  ) async throws -> Value {
    defer { removeFiles() }
    let catalog = try TopicCatalog.load(configuration.topics)
    let cluster = try await ClusterUnderTest(catalog)
    let (ports, sink) = AsyncStream.makeStream(of: Int.self)
    var kafka = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, clientID: "ingress-test")
    kafka.gate = gate
    var details = IngressServer.Details(configuration.ingress)
    change(&details)
    let server = try IngressServer(
      configuration, catalog: catalog, kafka: kafka, clock: .system, revocation: nil, metricsFactory: metrics,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      onListening: { _ = sink.yield($0) }, details: details)
    let group = ServiceGroup(
      configuration: .init(services: [server], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      var listening = ports.makeAsyncIterator()
      let port = try #require(await listening.next())
      let result: Result<Value, any Error>
      do {
        result = .success(
          try await body(
            RunningIngress(port: port, server: server, cluster: cluster, catalog: catalog, metrics: metrics)))
      } catch { result = .failure(error) }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
      return try result.get()
    }
  }
}

/// An ingress that accepts connections.
struct RunningIngress {
  let port: Int
  let server: IngressServer
  let cluster: ClusterUnderTest
  let catalog: TopicCatalog
  let metrics: PrometheusRegistry

  func post(
    _ body: [UInt8], to path: String = "/v2", method: HTTPMethod = .POST, headers: [(String, String)] = [],
    isChunked: Bool = false
  ) async throws -> Answer {
    try await AppleClient.post(
      body, port: port, to: path, method: method, headers: headers, isChunked: isChunked)
  }

  /// Returns the records of all partitions of a topic, up to the high watermark.
  func records(of topic: String) async throws -> [ConsumerRecord] {
    try await readAll(topic, catalog: catalog, bootstrapServers: cluster.bootstrapServers)
  }

  /// Returns the records of all topics.
  func allRecords() async throws -> [ConsumerRecord] {
    var records: [ConsumerRecord] = []
    // The report of the process is no notification.
    for topic in catalog.topics where topic.name != ProcessReport.ingressTopic {
      records += try await self.records(of: topic.name)
    }
    return records
  }
}

/// Posts notifications as Apple does.
enum AppleClient {
  /// Allows one connection for each client, so no client waits for another. Does not retry refused connections.
  static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.timeout.connect = .seconds(120)
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  static func post(
    _ body: [UInt8], port: Int, to path: String = "/v2", method: HTTPMethod = .POST,
    headers: [(String, String)] = [], isChunked: Bool = false
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
    request.method = method
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.headers.add(name: "content-type", value: "application/json")
    request.body = isChunked ? .bytes(body, length: .unknown) : .bytes(ByteBuffer(bytes: body))
    let response = try await client.execute(request, timeout: .seconds(150))
    let answer = try await response.body.collect(upTo: 1 << 20)
    return Answer(
      status: Int(response.status.code), contentType: response.headers.first(name: "content-type"),
      retryAfter: response.headers.first(name: "retry-after"), body: String(buffer: answer))
  }
}

/// Reads a topic up to the high watermark, and checks that the broker has not deleted records at its beginning.
func readAll(
  _ name: String, catalog: TopicCatalog, bootstrapServers: String
) async throws -> [ConsumerRecord] {
  let topic = try #require(catalog.topic(named: name))
  let partitions = (0..<Int32(topic.lanes)).map { TopicPartition(topic: topic.topic, partition: $0) }
  let consumer = try KafkaConsumer(
    KafkaConfiguration(
      bootstrapServers: bootstrapServers, properties: ["fetch.wait.max.ms": "10"], clientID: "reader"),
    subscription: .partitions(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .earliest) })))
  let running = Task { try await consumer.run() }
  var records: [ConsumerRecord] = []
  for await event in consumer.events {
    guard case .assigned(let queues) = event else { continue }
    for queue in queues {
      let range = try await consumer.watermarks(of: queue.partition, timeout: .seconds(60))
      #expect(range.lowerBound == 0, "\(queue.partition) was trimmed: the topic's retention is too small for this test")
      var next = range.lowerBound
      while next < range.upperBound {
        let batch = try await queue.nextBatch(upTo: 500)
        guard let last = batch.last else { break }
        records += batch
        next = last.offset + 1
      }
    }
    consumer.shutDown()
  }
  try await running.value
  return records
}

extension ConsumerRecord {
  /// Returns the value of a header as text.
  func header(_ name: String) -> String? {
    headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
  }
}
