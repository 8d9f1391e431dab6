import KafkaClient
import Logging
import MillraceTime
import Testing

@testable import MillraceCore

@Suite(.timeLimit(.minutes(5))) struct ThrottleStatusTests {
  private let start = ContinuousClock.now

  @Test func `a delay is reported for a minute, and logged once a minute for each client`() {
    let status = ThrottleStatus()
    #expect(status.entry(at: start) == nil)
    #expect(status.note("writer", at: start))
    #expect(!status.note("writer", at: start + .seconds(59)))
    #expect(status.note("reader", at: start + .seconds(59)))
    #expect(status.note("writer", at: start + .seconds(60)))
    #expect(status.throttled(at: start + .seconds(118)) == ["reader", "writer"])
    #expect(status.throttled(at: start + .seconds(119)) == ["writer"])
    #expect(status.throttled(at: start + .seconds(120)).isEmpty)
  }

  @Test func `readiness mentions a quota and stays healthy`() async throws {
    let status = ThrottleStatus()
    let board = ReadinessBoard(
      [ReadinessCheck("kafka", remedy: "") { .healthy("good") }], clock: .system, timeout: .seconds(60),
      maxAge: .zero, throttles: status)
    #expect(await board.report().entries.map(\.name) == ["kafka"])
    _ = status.note("writer", at: .now)
    let report = await board.report()
    #expect(report.isHealthy && report.entries.map(\.name) == ["kafka", "kafka-quota"])
    #expect(report.entries.last?.outcome.detail.contains("the clients writer within the last minute") == true)
  }

  @Test func `every delay is counted in seconds`() {
    let (registry, status) = (PrometheusRegistry(), ThrottleStatus())
    let observer = ClientObserver.reporting(
      client: "writer", to: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, metrics: registry,
      throttles: status)
    observer.throttling(Throttling(broker: "b:1", delay: .milliseconds(500)))
    observer.throttling(Throttling(broker: "b:1", delay: .milliseconds(1_000)))
    let page = registry.render()
    #expect(page.contains("millrace_kafka_throttled_seconds_total{client=\"writer\"} 1.5"), "\(page)")
    #expect(status.throttled(at: .now) == ["writer"])
  }

  @Test(arguments: [
    (KafkaError.Code.invalidTimestamp, [BrokerProblem.Kind](), "compare this machine's clock"),
    (.timedOut, [.authentication], "check the credentials"),
    (.timedOut, [.connection, .oldSCRAM], "librdkafka 2.6.1 or later, such as Debian 13"),
    (.timedOut, [.connection], "check kafka.bootstrapServers"),
    (.fenced, [], "another program has taken over"),
  ])
  func `the advice names the clock, the library or the credentials`(
    code: KafkaError.Code, kinds: [BrokerProblem.Kind], words: String
  ) {
    var error = KafkaError(code: code, operation: "send to t", reason: "refused", isRetriable: code == .timedOut)
    error.problems = kinds.map { BrokerProblem(broker: "k:1", kind: $0, words: "no") }
    #expect(error.advice.contains(words), "\(error.advice)")
  }
}
