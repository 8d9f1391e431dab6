// Checks that a customer's data reaches only Apple, and no log, metric, trace, event or dead letter.

import AppStore
import MillraceTime
import InMemoryTracing
import KafkaClient
import Logging
import MillraceTesting
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import AppStoreSimulator
@testable import Consumption
@testable import MillraceCore
@testable import MillraceRecords

@Suite(.timeLimit(.minutes(15))) struct PrivacyTests {
  /// Collects every log line of a run, at every level.
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])

    var logger: Logger {
      var logger = Logger(label: "privacy") { _ in Handler(lines: self) }
      logger.logLevel = .trace
      return logger
    }

    struct Handler: LogHandler {
      let lines: Lines
      var metadata: Logger.Metadata = [:]
      var logLevel = Logger.Level.trace

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        lines.all.withLock { $0.append("\(event.message) \(all)") }
      }
    }
  }

  private static let token = "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11"
  /// Values that occur nowhere else.
  private static let words = [
    token, "31337", "9999999", "MARKER", "UNDELIVERED_WRONG_ITEM", String(ConsumptionStage.secret.dropFirst(6)),
  ]

  private static let answers = [
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":31337}"#,
    #"{"customerConsented":true,"deliveryStatus":"UNDELIVERED_WRONG_ITEM","sampleContentProvided":true}"#,
    // Invalid in ways that an error message could quote.
    #"{"customerConsented":true,"deliveryStatus":"MARKER","sampleContentProvided":true}"#,
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":9999999}"#,
    #"{"customerConsented":"MARKER"}"#, #"MARKER"#,
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"v1":{"MARKER":1}}"#,
    #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"v1":{"appAccountToken":"MARKER"}}"#,
  ]

  @Test func `a whole run passes a customer's data to Apple only`() async throws {
    let stage = try ConsumptionStage()
    let lines = Lines()
    let registry = PrometheusRegistry()
    stage.team.answers { post in
      .status(200, Self.answers[Int(truncatingIfNeeded: (Int64(post.transaction) ?? 0)) % Self.answers.count])
    }
    stage.fault(.failure(status: 400, body: .json(code: 4_000_033, message: "no")), for: .seconds(60), share: 0.3)
    stage.fault(.failure(status: 503, body: .html), from: .seconds(60), for: .seconds(3_600))
    TaskTracer.install()
    let spans = InMemoryTracer()
    try await TaskTracer.$tracer.withValue(spans) {
      try await Self.play(stage, lines.logger, registry)
    }
    let events = try stage.events()
    #expect(Set(events.map(\.name)).isSuperset(of: ["consumption.sent", "consumption.at-risk", "consumption.expired"]))
    let letters = stage.log.records(in: stage.topics.deadLetters)
    #expect(letters.count == 1)
    var said = lines.all.withLock { $0 }
    #expect(said.count > 24)
    said.append(registry.render())
    #expect(spans.finishedSpans.contains { $0.operationName == "consumption handle" })
    let calls = spans.finishedSpans.filter { $0.operationName.hasPrefix("AppStoreServerAPI ") }
    let runs = spans.finishedSpans.filter { $0.operationName.hasPrefix("consumption ") }
    #expect(!calls.isEmpty)
    #expect(
      calls.allSatisfy { call in runs.contains { $0.spanID == call.parentSpanID && $0.traceID == call.traceID } },
      "a call to Apple is not in its run's trace")
    said += spans.finishedSpans.map { span in
      var attributes: [String] = []
      span.attributes.forEach { name, value in attributes.append("\(name)=\(value.toSpanAttribute())") }
      let events = span.events.map(\.name)
      return "\(span.operationName) \(attributes) \(String(describing: span.status)) \(span.errors) \(events)"
    }
    said += letters.flatMap { letter in
      letter.headers.map { "\($0.name)=\(String(decoding: $0.value ?? [], as: UTF8.self))" }
    }
    said += events.map { "\($0.data)" }
    for topic in stage.topics.retries {
      // Delayed records carry the reasons of their failures.
      said += stage.log.records(in: topic).flatMap { record in
        record.headers.map { String(decoding: $0.value ?? [], as: UTF8.self) }
      }
    }
    for word in Self.words {
      let found = said.filter { $0.lowercased().contains(word.lowercased()) }
      #expect(found.isEmpty, "found \(word) in \(found.prefix(3))")
    }
    // The words did reach the team's system and Apple.
    let posted = stage.team.posts.map { String(decoding: $0.body, as: UTF8.self).lowercased() }
    #expect(posted.contains { $0.contains(Self.token) })
    try stage.checkEvents()
  }

  private static func play(
    _ stage: ConsumptionStage, _ logger: Logger, _ registry: PrometheusRegistry
  ) async throws {
    try await stage.running(logger: logger, metrics: registry) {
      for number in 0..<24 {
        let id = try stage.buy(token: token)
        try stage.askBack(id)
        try stage.deliver(version1: number.isMultiple(of: 2))
      }
      // One notification becomes a dead letter because of its content, and one has a timer that fires.
      let body = """
        {"notification_type":"CONSUMPTION_REQUEST","environment":"PROD","bid":"\(ConsumptionStage.bundleId)",\
        "unified_receipt":{"latest_receipt_info":[{"transaction_id":"1","app_account_token":"\(token)"},\
        {"transaction_id":"2","app_account_token":"\(token)"}]}}
        """
      try stage.log.append(try stage.v1(body: Array(body.utf8)))
      try await stage.pass(.seconds(13 * 3_600), step: .seconds(300))
    }
  }
}

/// The tracer of the process. It records in tasks that have their own tracer, and discards all other spans.
private struct TaskTracer: Tracer {
  @TaskLocal static var tracer: InMemoryTracer?

  private static let installed: Void = InstrumentationSystem.bootstrap(TaskTracer())

  static func install() { installed }

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> InMemorySpan {
    (Self.tracer ?? InMemoryTracer()).startSpan(
      operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line)
  }

  func forceFlush() {}

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {}
}
