import AppStore
import Logging
import MillraceCore
import MillraceTime
import Synchronization
import Testing
import Tracing

@testable import OpenTelemetry

/// A collector that answers with given statuses in turn, and then 200.
private final class Collector: TraceCollector {
  private struct State {
    var answers: [TraceResponse?]
    var requests: [[String]] = []
    var isClosed = false
  }

  private let state: Mutex<State>

  /// - Parameter answers: nil stands for no answer.
  init(_ answers: [TraceResponse?] = []) { state = Mutex(State(answers: answers)) }

  /// The names of the spans of each request.
  var requests: [[String]] { state.withLock(\.requests) }

  func post(_ body: [UInt8]) async throws -> TraceResponse {
    let names = String(decoding: body, as: UTF8.self).split(separator: #""name":""#).dropFirst()
      .map { String($0.prefix { $0 != "\"" }) }.filter { $0.hasPrefix("span") }
    return try state.withLock { state in
      state.requests.append(names)
      guard let answer = state.answers.isEmpty ? TraceResponse(status: 200) : state.answers.removeFirst() else {
        throw Down()
      }
      return answer
    }
  }

  func close() async { state.withLock { $0.isClosed = true } }

  var isClosed: Bool { state.withLock(\.isClosed) }

  private struct Down: Error {}
}

@Suite(.timeLimit(.minutes(10))) struct SpanExporterTests {
  private let time = ManualClock()

  private func exporter(_ collector: Collector) -> SpanExporter {
    SpanExporter(
      TraceResource(service: "test", instance: "1"), clock: time.clock,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) { collector }
  }

  private func add(_ names: [String], to exporter: SpanExporter) {
    for name in names { ExportingTracer(exporter).startSpan(name, context: .topLevel).end() }
  }

  private func names(_ range: Range<Int>) -> [String] { range.map { "span\($0)" } }

  /// Runs an exporter while `body` runs.
  private func running(_ exporter: SpanExporter, _ body: () async -> Void) async throws {
    let task = Task { try await exporter.run() }
    await time.waitForSleepers()
    await body()
    task.cancel()
    try await task.value
  }

  private func counts(_ exporter: SpanExporter) -> [String: Double] {
    Dictionary(
      uniqueKeysWithValues: exporter.collectors.flatMap { collector in
        collector.collect().map { ($0.labels.first?.1 ?? "waiting", $0.value) }
      })
  }

  @Test func `Spans are sent every second in batches, and those that are left at the end`() async throws {
    let (collector, all) = (Collector(), names(0..<700))
    let exporter = exporter(collector)
    add(all, to: exporter)
    try await running(exporter) {
      time.advance(by: SpanExporter.interval)
      await time.waitForSleepers()
      #expect(collector.requests.map(\.count) == [SpanExporter.batch, 700 - SpanExporter.batch])
      time.advance(by: SpanExporter.interval)
      await time.waitForSleepers()
      #expect(collector.requests.count == 2, "without spans there is no request")
      add(["span-last"], to: exporter)
    }
    #expect(collector.requests.flatMap { $0 } == all + ["span-last"])
    #expect(counts(exporter) == ["sent": 701, "dropped": 0, "refused": 0, "waiting": 0])
    #expect(collector.isClosed)
  }

  @Test(arguments: [
    (TraceResponse(status: 503), 5), (.init(status: 429, retryAfter: 20), 20),
    (.init(status: 502, retryAfter: 3_600), 60), (nil, 5),
  ])
  func `Spans that the collector cannot take now are sent again, in order`(response: TraceResponse?, wait: Int)
    async throws
  {
    let collector = Collector([response])
    let exporter = exporter(collector)
    add(names(0..<2), to: exporter)
    try await running(exporter) {
      time.advance(by: SpanExporter.interval)
      await time.waitForSleepers()
      add(names(2..<3), to: exporter)
      time.advance(by: .seconds(wait) - .milliseconds(1))
      #expect(collector.requests == [names(0..<2)])
      time.advance(by: .milliseconds(1))
      await time.waitForSleepers()
      #expect(collector.requests == [names(0..<2), names(0..<3)])
    }
    #expect(counts(exporter) == ["sent": 3, "dropped": 0, "refused": 0, "waiting": 0])
  }

  @Test(arguments: [
    TraceResponse(status: 400), .init(status: 302), .init(status: 200, refusedSpans: 2),
    .init(status: 200, refusedSpans: 9),
  ])
  func `Spans that the collector refuses are not sent again`(response: TraceResponse) async throws {
    let collector = Collector([response])
    let exporter = exporter(collector)
    add(names(0..<2), to: exporter)
    try await running(exporter) {
      time.advance(by: SpanExporter.interval)
      await time.waitForSleepers()
    }
    #expect(collector.requests == [names(0..<2)])
    #expect(counts(exporter) == ["sent": 0, "dropped": 0, "refused": 2, "waiting": 0])
  }

  @Test(arguments: [
    (#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, 3),
    (#"{"partialSuccess":{"rejectedSpans":2}}"#, 2),
    ("{}", 0), (#"{"partialSuccess":{}}"#, 0), (#"{"partialSuccess":{"rejectedSpans":"-1"}}"#, 0), ("", 0),
    ("<html>", 0),
  ])
  func `The answer to an accepted request can refuse spans`(body: String, count: Int) {
    #expect(TraceResponse.refusedSpans(in: Array(body.utf8)) == count)
  }

  @Test func `A full buffer drops and counts the newest spans, and the end waits for no collector`() async throws {
    let collector = Collector([nil, nil])
    let exporter = exporter(collector)
    add(names(0..<SpanExporter.capacity + 3), to: exporter)
    #expect(counts(exporter)["dropped"] == 3 && counts(exporter)["waiting"] == Double(SpanExporter.capacity))
    try await running(exporter) {}
    #expect(counts(exporter)["dropped"] == Double(SpanExporter.capacity + 3))
    #expect(collector.requests.count == 1)
  }
}
