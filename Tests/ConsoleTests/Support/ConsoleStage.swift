// A console on an in-memory log, tested through HTTP.

import AppStore
import AsyncHTTPClient
import MillraceTime
import KafkaClient
import Logging
import MillraceCore
import MillraceRecords
import MillraceWorker
import MillraceTesting
import NIOCore
import NIOHTTP1
import Operations
import ServiceLifecycle

@testable import Console

/// A console with tables that the test fills.
struct ConsoleStage: Sendable {

  let log: InMemoryLog
  let store: ConsoleStore
  let topics: ConsoleTopics
  /// The places of requests that read topics.
  let scans: AdmissionQuota
  let port: Int
  let client: HTTPClient

  var address: String { "http://127.0.0.1:\(port)" }

  /// Runs a console while `body` runs.
  /// - Parameter onConnect: Runs in each request that reads topics, on its thread.
  static func run(
    proxy: ConsoleSettings.Proxy = .required, allowsActions: Bool = true, showsPayloads: Bool = false,
    isLogAway: Bool = false, onConnect: @escaping @Sendable () -> Void = {}, deadLetters: Int = 1_000,
    idle: TimeAmount = .seconds(60),
    change: (inout MillraceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (ConsoleStage) async throws -> Void
  ) async throws {
    let time = ManualClock(start: Deployment.now)
    let log = InMemoryLog(clock: time.clock)
    let configuration = Deployment.configuration {
      $0.console.proxy = proxy
      change(&$0)
    }
    let catalog = try TopicCatalog.load(configuration)
    for topic in catalog.topics { try log.createTopic(topic.topic, partitions: topic.lanes) }
    let topics = ConsoleTopics(catalog, configuration)
    let store = ConsoleStore(topics, deadLetters: deadLetters, clock: time.clock, real: time.clock)
    let connect = { @Sendable () async throws -> any RecordLog in
      onConnect()
      if isLogAway { throw KafkaError(code: .closed, operation: "connect", reason: "the broker went away") }
      return log
    }
    var responder = ConsoleResponder(
      policy: AccessPolicy(
        settings: configuration.console, allowsActions: allowsActions, localUser: "me", tokens: FormTokens { 0 }),
      store: store, topics: topics, settings: configuration.console, showsPayloads: showsPayloads,
      log: connect, clock: time.clock, real: time.clock, patience: .zero,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    responder.quarantineService = try QuarantineService(
      configuration, catalog, reading: connect, writing: connect, clock: time.clock)
    let (ports, port) = AsyncStream<Int>.makeStream()
    var front = ConsoleFront(
      responder: responder, settings: configuration.console,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) { port.yield($0) }
    front.limits.idle = idle
    var settings = HTTPClient.Configuration()
    settings.connectionPool.retryConnectionEstablishment = false
    settings.timeout.connect = .seconds(120)
    settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    settings.redirectConfiguration = .disallow
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    let group = ServiceGroup(
      configuration: .init(services: [front], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    do {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        guard let bound = await ports.first(where: { _ in true }) else { return }
        try await body(
          ConsoleStage(
            time: time, log: log, store: store, topics: topics, scans: responder.scans, port: bound, client: client))
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
      }
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
  }

  private init(
    time: ManualClock, log: InMemoryLog, store: ConsoleStore, topics: ConsoleTopics, scans: AdmissionQuota, port: Int,
    client: HTTPClient
  ) {
    (self.log, self.store, self.topics, self.scans, self.port, self.client) = (log, store, topics, scans, port, client)
    self.manual = time
  }

  /// The clock of the log and the pages.
  let manual: ManualClock

  /// The headers of a browser behind the proxy.
  static let own = [("X-Forwarded-User", "ada"), ("Sec-Fetch-Site", "same-origin")]

  func ask(
    _ path: String, _ method: HTTPMethod = .GET, headers: [(String, String)] = own, form: String? = nil
  ) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: address + path)
    request.method = method
    request.headers = HTTPHeaders(headers)
    if let form {
      request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
      request.body = .bytes(ByteBuffer(string: form))
    }
    return try await client.execute(request, timeout: .seconds(60))
  }

  func text(_ path: String, headers: [(String, String)] = own) async throws -> String {
    String(buffer: try await ask(path, headers: headers).body.collect(upTo: 8 << 20))
  }

  /// Writes dead letters to the log, and passes them to the console's tables as its follower does.
  func produce(_ records: [ProducerRecord]) async throws {
    for record in records { try log.append(record) }
    for topic in Set(records.map(\.topic)) { await store.apply(log.records(in: topic)) }
  }

  /// Returns the token of the form on a page.
  func token(_ path: String) async throws -> String {
    let page = try await text(path)
    return page.split(separator: "name=\"token\" value=\"").dropFirst().first.map { String($0.prefix { $0 != "\"" }) }
      ?? ""
  }

  var audit: [AuditRecord] { log.records(in: AuditRecord.topic).compactMap { AuditRecord($0) } }
  var commands: [OperationCommand] {
    log.records(in: "millrace.operations").compactMap { record in
      guard let value = record.value, let json = try? JSON(parsing: value),
        case .command(let command)? = OperationsRecord(json)
      else { return nil }
      return command
    }
  }
}
