// Workers whose endpoint is a real HTTP server: the answers of docs/http-workers.md, over real connections.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import CoreMetrics
import Foundation
import Logging
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceTime
import NIOHPACK
import Synchronization
import TestServers
import Testing

@testable import HTTPWorkers
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(10))) struct RealEndpointTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private static func request(_ id: String) -> HandlerRequest {
    HandlerRequest(
      id: id, kind: .notification, worker: "w", key: "k", attempt: 1, isReplay: false, isReapply: false,
      time: Timestamp(millisecondsSince1970: 0), state: .null, subject: [:])
  }

  private static func configuration(_ url: String, _ secret: String) -> MillraceConfiguration {
    var configuration = MillraceConfiguration()
    var entry = WorkerEntry()
    entry.families = ["subscriptions"]
    entry.handler.url = url
    entry.handler.secretFile = secret
    configuration.workers["w"] = entry
    return configuration
  }

  /// Sends one request through connections of its own.
  private static func send(to url: String, within limit: Duration = .seconds(20)) async throws -> EndpointAnswer {
    let folder = try TestFolder()
    let source = try EndpointSource(
      "w", configuration(url, try folder.write("secret", to: "secret")), parallelism: 4, logger: logger)
    let reply = try await source.current().send(
      request("1"), now: Timestamp(millisecondsSince1970: 0), limit: limit)
    await source.close()
    try folder.remove()
    return reply.answer
  }

  @Test(
    arguments: [
      (.answer(204, []), .nothing),
      (.answer(200, ["content-type: application/json"], "{}"), .outcome(.results(.init()))),
      (.answer(429, ["retry-after: 7"]), .later(at: Timestamp(millisecondsSince1970: 7_000), status: 429)),
      (.answer(503, ["retry-after: 7"]), .later(at: Timestamp(millisecondsSince1970: 7_000), status: 503)),
      (.answer(500), .failed(.serverError, detail: "answered 500")),
      (.answer(422, [], #"{"title": "no"}"#), .refused(status: 422, detail: "no")),
      (.answer(307, ["location: /other"]), .misconfigured(status: 307)), (.answer(401), .misconfigured(status: 401)),
      (
        .answer(200, ["content-type: application/json"], "garbage"),
        .invalid(detail: "$: invalid JSON: an unexpected byte at byte 0")
      ),
      (.large(10 << 20), .invalid(detail: "the body is larger than 1048576 bytes")),
      (.bytes(Array("garbage\r\n\r\n".utf8)), .failed(.unreachable, detail: "")),
      (
        .bytes(Array("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{".utf8)),
        .failed(.timeout, detail: "no answer within 300ms")
      ),
      (.hangUp, .failed(.unreachable, detail: "")), (.silence, .failed(.timeout, detail: "no answer within 300ms")),
      (.answer(204, [], after: .seconds(20)), .failed(.timeout, detail: "no answer within 300ms")),
    ] as [(LocalEndpoint.Reply, EndpointAnswer)])
  func `each behaviour of a server has its meaning`(reply: LocalEndpoint.Reply, meaning: EndpointAnswer) async throws {
    try await LocalEndpoint.serving { _, _ in
      reply
    } _: { server in
      let hasLimit = if case .failed(.timeout, _) = meaning { true } else { false }
      let answer = try await Self.send(to: server.url, within: hasLimit ? .milliseconds(300) : .seconds(20))
      if case .failed(.unreachable, "") = meaning {
        guard case .failed(.unreachable, _) = answer else { return #expect(answer == meaning) }
      } else {
        #expect(answer == meaning)
      }
    }
  }

  @Test func `a server that is not there is unreachable`() async throws {
    let url = try await LocalEndpoint.serving { _, _ in
      .hangUp
    } _: {
      $0.url
    }
    guard case .failed(.unreachable, let detail) = try await Self.send(to: url) else { return #expect(Bool(false)) }
    #expect(detail.contains("not sent"))
  }

  @Test func `connections are kept, and the secret, the URL and the file with the URL can change`() async throws {
    let folder = try TestFolder()
    let time = ManualClock()
    func write(_ url: String) throws -> MillraceConfiguration {
      let path = try folder.write(
        """
        workers: { w: { families: [subscriptions], handler: { url: "\(url)", secretFile: "\(folder.path("secret"))" } } }
        """, to: "millrace.yaml")
      return try LoadedConfiguration.load(path: path, environment: [:]).configuration
    }
    try await LocalEndpoint.serving { _, _ in
      .answer(204, [])
    } _: { first in
      try await LocalEndpoint.serving { _, _ in
        .answer(204, [])
      } _: { second in
        try folder.write("one", to: "secret")
        let source = try EndpointSource(
          "w", try write(first.url), parallelism: 4, environment: [:], clock: time.clock, logger: Self.logger)
        func signature() throws -> String? {
          source.current().request(
            Self.request("1"), trace: nil, now: Timestamp(millisecondsSince1970: 0), limit: .seconds(1)
          ).headers["webhook-signature"]
        }
        for _ in 0..<3 {
          _ = try await source.current().send(
            Self.request("1"), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20))
        }
        #expect(first.requests.count == 3 && first.connections == 1)
        let before = try signature()
        try folder.write("another", to: "secret")
        _ = try write(second.url)
        #expect(try signature() == before, "files are looked at once a second")
        time.advance(by: .seconds(1))
        #expect(try signature() != before && source.current().url == second.url)
        _ = try await source.current().send(
          Self.request("2"), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20))
        #expect(second.requests == ["2"])
        // Content that cannot be used changes nothing.
        let changed = try signature()
        try folder.write("workers: { w: { handler: {} } }", to: "millrace.yaml")
        try folder.write("", to: "secret")
        time.advance(by: .seconds(1))
        #expect(try signature() == changed && source.current().url == second.url)
        await source.close()
      }
    }
    try folder.remove()
  }

  @Test func `a server may require a client certificate, which can be renewed`() async throws {
    let (server, client, other) = (
      try TestCertificate("server"), try TestCertificate("client"), try TestCertificate("other")
    )
    let folder = try TestFolder()
    let time = ManualClock()
    try await LocalEndpoint.serving(tls: try server.server(requiring: client)) { _, _ in
      .answer(204, [])
    } _: { endpoint in
      var configuration = Self.configuration(endpoint.secureURL, try folder.write("secret", to: "secret"))
      var handler = configuration.workers["w"]?.handler ?? HandlerSettings()
      handler.certificateAuthorityFile = try folder.write(server.pem, to: "ca.pem")
      handler.certificateFile = try folder.write(other.pem, to: "client.pem")
      handler.keyFile = try folder.write(other.keyPEM, to: "client.key")
      configuration.workers["w"]?.handler = handler
      let source = try EndpointSource(
        "w", configuration, parallelism: 4, clock: time.clock, logger: Self.logger)
      func send() async throws -> EndpointAnswer {
        try await source.current().send(
          Self.request("1"), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20)
        ).answer
      }
      guard case .failed(.unreachable, _) = try await send() else { return #expect(Bool(false), "not trusted") }
      try folder.write(client.pem, to: "client.pem")
      try folder.write(client.keyPEM, to: "client.key")
      time.advance(by: .seconds(1))
      #expect(try await send() == .nothing)
      try folder.write("no certificate", to: "client.pem")
      time.advance(by: .seconds(1))
      #expect(try await send() == .nothing, "the old one stays")
      await source.close()
      try folder.write(client.pem, to: "client.pem")
      handler.certificateAuthorityFile = nil
      configuration.workers["w"]?.handler = handler
      let distrusting = try EndpointSource("w", configuration, parallelism: 4, logger: Self.logger)
      let answer = try await distrusting.current().send(
        Self.request("1"), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20)
      ).answer
      guard case .failed(.unreachable, _) = answer else { return #expect(Bool(false), "the system does not trust it") }
      await distrusting.close()
    }
    try folder.remove()
  }

  @Test func `a certificate that changes together with an unusable secret is used when the secret is mended`()
    async throws
  {
    let (server, client, other) = (
      try TestCertificate("server"), try TestCertificate("client"), try TestCertificate("other")
    )
    let folder = try TestFolder()
    let time = ManualClock()
    try await LocalEndpoint.serving(tls: try server.server(requiring: client)) { _, _ in
      .answer(204, [])
    } _: { endpoint in
      var configuration = Self.configuration(endpoint.secureURL, try folder.write("secret", to: "secret"))
      configuration.workers["w"]?.handler.certificateAuthorityFile = try folder.write(server.pem, to: "ca.pem")
      configuration.workers["w"]?.handler.certificateFile = try folder.write(other.pem, to: "client.pem")
      configuration.workers["w"]?.handler.keyFile = try folder.write(other.keyPEM, to: "client.key")
      let source = try EndpointSource("w", configuration, parallelism: 4, clock: time.clock, logger: Self.logger)
      func send() async throws -> EndpointAnswer {
        time.advance(by: .seconds(1))
        return try await source.current().send(
          Self.request("1"), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20)
        ).answer
      }
      try folder.write(client.pem, to: "client.pem")
      try folder.write(client.keyPEM, to: "client.key")
      try folder.write("", to: "secret")
      guard case .failed(.unreachable, _) = try await send() else { return #expect(Bool(false), "not trusted") }
      try folder.write("another", to: "secret")
      #expect(try await send() == .nothing)
      await source.close()
    }
    try folder.remove()
  }

  /// A source whose configuration file a test changes.
  private static func source(
    _ folder: TestFolder, _ handler: String, _ time: ManualClock, log: WarningLog = WarningLog()
  ) throws -> EndpointSource {
    try EndpointSource(
      "w", try configured(folder, handler), parallelism: 4, longestRequest: .seconds(50), environment: [:],
      clock: time.clock, logger: log.logger)
  }

  @discardableResult
  private static func configured(_ folder: TestFolder, _ handler: String) throws -> MillraceConfiguration {
    let path = try folder.write(
      "workers: { w: { families: [subscriptions], handler: { \(handler) } } }", to: "millrace.yaml")
    return try LoadedConfiguration.load(path: path, environment: [:]).configuration
  }

  @Test func `a file that appears after the configuration names it is used`() async throws {
    let (folder, time, log) = (try TestFolder(), ManualClock(), WarningLog())
    try folder.write("secret", to: "secret")
    let source = try Self.source(folder, #"url: "http://a", secretFile: "\#(folder.path("secret"))""#, time, log: log)
    try Self.configured(folder, #"url: "http://b", secretFile: "\#(folder.path("new"))""#)
    time.advance(by: .seconds(1))
    #expect(source.current().url == "http://a" && log.lines.count == 1, "the new file is not there yet")
    time.advance(by: .seconds(1))
    #expect(source.current().url == "http://a" && log.lines.count == 1, "one warning for each change")
    try folder.write("secret", to: "new")
    time.advance(by: .seconds(1))
    #expect(source.current().url == "http://b" && log.lines.count == 1)
    await source.close()
    try folder.remove()
  }

  @Test func `a new timeout that is longer than a run is logged`() async throws {
    let (folder, time, log) = (try TestFolder(), ManualClock(), WarningLog())
    let secret = try folder.write("secret", to: "secret")
    let source = try Self.source(folder, #"url: "http://a", secretFile: "\#(secret)""#, time, log: log)
    for (timeout, count) in [("50s", 0), ("51s", 1)] {
      try Self.configured(folder, #"url: "http://a", secretFile: "\#(secret)", timeout: \#(timeout)"#)
      time.advance(by: .seconds(1))
      #expect(source.current().timeout == (count == 0 ? .seconds(50) : .seconds(51)) && log.lines.count == count)
    }
    #expect(log.lines.first?.contains("until the process restarts limit=50s timeout=51s") == true, "\(log.lines)")
    await source.close()
    try folder.remove()
  }

  @Test func `earlier connections serve their requests for twice their own timeout`() async throws {
    let (folder, time) = (try TestFolder(), ManualClock())
    let certificate = try TestCertificate("server")
    try await LocalEndpoint.serving(tls: try certificate.server(requiring: nil)) { _, _ in
      .answer(204, [], after: .milliseconds(500))
    } _: { endpoint in
      try folder.write(certificate.pem, to: "ca.pem")
      let secret = try folder.write("secret", to: "secret")
      let handler =
        #"url: "\#(endpoint.secureURL)", secretFile: "\#(secret)", certificateAuthorityFile: "\#(folder.path("ca.pem"))""#
      let source = try Self.source(folder, handler + ", timeout: 20s", time)
      let old = source.current()
      async let answer = old.send(Self.request("1"), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20))
      await endpoint.wait(for: 1)
      // The connections change together with the timeout.
      try folder.write(certificate.pem + "\n", to: "ca.pem")
      try Self.configured(folder, handler + ", timeout: 1s")
      time.advance(by: .seconds(1))
      #expect(source.current().timeout == .seconds(1))
      time.advance(by: .seconds(30))
      _ = source.current()
      #expect(try await answer.answer == .nothing, "they are not closed")
      time.advance(by: .seconds(10))
      _ = source.current()
      await source.close()
      let late = try await old.send(Self.request("2"), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20))
      guard case .failed(.unreachable, _) = late.answer else { return #expect(Bool(false), "they are closed") }
    }
    try folder.remove()
  }

  @Test func `an error names the key of the file that cannot be used`() throws {
    let folder = try TestFolder()
    var configuration = Self.configuration("http://a", try folder.write("secret", to: "secret"))
    configuration.workers["w"]?.handler.previousSecretFile = try folder.write("whsec_!", to: "previous")
    // Without connections that would have to be closed.
    let error = #expect(throws: MillraceError.self) {
      try EndpointSource("w", configuration, parallelism: 4, logger: Self.logger)
    }
    #expect(error?.description.contains("workers.w.handler.previousSecretFile") == true, "\(error.debugDescription)")
    try folder.remove()
  }

  @Test func `a request whose kept connection the server closes is sent again at once`() async throws {
    let folder = try TestFolder()
    let count = Mutex(0)
    try await LocalEndpoint.serving { _, _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return number == 2 || number > 3 ? .hangUp : .answer(204, [])
    } _: { server in
      let source = try EndpointSource(
        "w", Self.configuration(server.url, try folder.write("secret", to: "secret")), parallelism: 4,
        logger: Self.logger)
      var answers: [EndpointAnswer] = []
      for id in ["1", "2", "3"] {
        answers.append(
          try await source.current().send(
            Self.request(id), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20)
          ).answer)
      }
      #expect(answers.prefix(2) == [.nothing, .nothing])
      guard case .failed(.unreachable, _) = answers[2] else { return #expect(Bool(false), "once more, not for ever") }
      #expect(server.requests == ["1", "2", "2", "3", "3"] && server.connections == 3)
      await source.close()
    }
    try folder.remove()
  }

  @Test func `HTTP 2 is used with an endpoint that offers it`() async throws {
    let folder = try TestFolder()
    let certificate = try TestCertificate("server")
    try await HTTP2Server.serving(certificate, { _ in 204 }) { server in
      var configuration = Self.configuration(server.url + "/hook", try folder.write("secret", to: "secret"))
      configuration.workers["w"]?.handler.certificateAuthorityFile = try folder.write(certificate.pem, to: "ca.pem")
      let source = try EndpointSource("w", configuration, parallelism: 4, logger: Self.logger)
      let endpoint = source.current()
      func send(_ id: String) async throws {
        let reply = try await endpoint.send(
          Self.request(id), now: Timestamp(millisecondsSince1970: 0), limit: .seconds(20))
        #expect(reply.answer == .nothing)
      }
      try await send("1")
      try await withThrowingTaskGroup { group in
        for id in ["2", "3", "4"] { group.addTask { try await send(id) } }
        try await group.waitForAll()
      }
      #expect(server.connections == 1, "all requests share one connection")
      #expect(Set(server.requests.map { $0.first(name: "webhook-id") }) == ["1", "2", "3", "4"])
      #expect(server.requests.allSatisfy { $0.first(name: ":method") == "POST" && $0.first(name: ":path") == "/hook" })
      await source.close()
    }
    try folder.remove()
  }

  @Test func `a worker whose endpoint does not answer delays no other worker of the process`() async throws {
    let folder = try TestFolder()
    let secret = try folder.write("secret", to: "secret")
    try await LocalEndpoint.serving { _, _ in
      .silence
    } _: { slow in
      try await LocalEndpoint.serving { _, _ in
        .answer(204, [])
      } _: { quick in
        let time = ManualClock()
        let log = InMemoryLog(clock: time.clock)
        var configuration = MillraceConfiguration()
        for (name, url) in [("slow", slow.url), ("quick", quick.url)] {
          var entry = WorkerEntry()
          entry.families = ["subscriptions"]
          entry.handler.url = url
          entry.handler.secretFile = secret
          configuration.workers[name] = entry
        }
        var fixtures = try NotificationFixtures(from: time.clock.wallTime, seed: 1)
        configuration.apps = [fixtures.appSettings(AppSettings())]
        let host = WorkerHost()
        var runtimes: [WorkerRuntime] = []
        try log.createTopic(NotificationFamily.subscriptions.topic, partitions: 1)
        var topicNames: Set<String> = [NotificationFamily.subscriptions.topic]
        for identity in try HTTPWorker.identities(in: configuration) {
          var policy = configuration.policy(of: identity.name, standard: identity.policy)
          policy.commitInterval = .zero
          let topics = WorkerTopics(HTTPWorker.self, as: identity, configuration, policy)
          for name in topics.laneTopics + topics.others where topicNames.insert(name).inserted {
            try log.createTopic(name, partitions: 1)
          }
          runtimes.append(
            try await WorkerProcess.runtime(
              HTTPWorker.self, as: identity, configuration, policy, log: log.process(identity.name),
              exchange: NoExchange(), metrics: NOOPMetricsHandler.instance, verifier: fixtures.verifier,
              host: host, clock: time.clock, logger: Self.logger))
        }
        for _ in 0..<100 { try log.append(try await fixtures.next(SampleKind(.didRenew)).producerRecord) }
        let started = runtimes
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for runtime in started {
            group.addTask {
              try await runtime.run()
              return false
            }
          }
          group.addTask {
            while !started.allSatisfy(\.readiness.isReady) {
              time.advance(by: .milliseconds(100))
              for _ in 0..<20 { await Task.yield() }
            }
            await quick.wait(for: 100)
            await slow.wait(for: 16)
            return true
          }
          while let isBody = try await group.next() {
            if isBody { group.cancelAll() }
          }
        }
        #expect(Set(quick.requests).count == 100)
        #expect(slow.requests.count == 16, "as many as run at one time")
        #expect(host.checks.map(\.name).sorted() == ["quick-endpoint", "slow-endpoint"])
        await host.close()
      }
    }
    try folder.remove()
  }
}

/// Fails every request.
private struct NoExchange: HTTPExchange {
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    throw TransportFailure("not part of the test", .notSent)
  }
}
