// Tests the reports of processes on `millrace.control`.

import AppStore
import KafkaClient
import Logging
import MillraceTesting
import MillraceTime
import ServiceLifecycle
import Synchronization
import TestEnvironment
import Testing

@testable import MillraceRecords

@Suite(.timeLimit(.minutes(5))) struct ProcessReportTests {
  private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  @Test func `a report is read as it was written`() throws {
    var report = ProcessReport("refunds", instance: "pod-0", version: "0.1.0")
    let plain = report.record(to: "t")
    #expect(ProcessReport(try JSONObject(parsing: plain.value ?? [])) == report)
    (report.lanes, report.failingTimers) = ([1, 3], 2)
    report.started = Timestamp(millisecondsSince1970: 1_767_225_600_123)
    report.circuit = .init(isMisconfigured: true, cause: "answered 410")
    report.budgets = [.init(bundleId: "a", environment: "Sandbox", endpoint: "e", perSecond: 0.125, waiting: 2)]
    #expect(ProcessReport(try JSONObject(parsing: report.record(to: "t").value ?? [])) == report)
    let before = report
    report.budgets[0].isRefused = true
    #expect(!report.hasState(of: before), "refused tokens are published soon")
    report.lag = ["t": 4]
    report.problem = "away"
    report.startedAt = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    report.refusals = [.init(reason: "chain", count: 3, lastAt: Timestamp(millisecondsSince1970: 1_767_225_601_000))]
    let full = report.record(to: "t")
    #expect(ProcessReport(try JSONObject(parsing: full.value ?? [])) == report)
    #expect(full.key == plain.key, "compaction keeps the newest")
    for damaged in [#"{"kind":"pause"}"#, #"{"kind":"process","name":"x"}"#, "{}"] {
      #expect(ProcessReport(try JSONObject(parsing: Array(damaged.utf8))) == nil)
    }
  }

  @Test func `a report has a bounded number of reasons, however many a record has`() throws {
    var report = ProcessReport(ProcessReport.ingress, instance: "a", version: "0.1.0")
    let time = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    let limit = ProcessReport.maximumReasons
    report.refusals = (0...limit).map { .init(reason: "r\($0)", count: 1, lastAt: time) }
    func read(_ value: [UInt8]?) throws -> ProcessReport? { ProcessReport(try JSONObject(parsing: value ?? [])) }
    #expect(try read(report.record(to: "t").value)?.refusals.count == limit)
    let long = String(repeating: "x", count: 65)
    let forged = """
      {"kind":"process","name":"ingress","instance":"a","version":"","refusals":[
      {"reason":"\(long)","count":1,"lastAt":"2026-01-01T00:00:00Z"},{"reason":"a","count":-1,"lastAt":"2026-01-01T00:00:00Z"},
      {"reason":"b","count":2,"lastAt":"never"},{"reason":"c","count":2,"lastAt":"2026-01-01T00:00:00Z"},7]}
      """
    #expect(try read(Array(forged.utf8))?.refusals.map(\.reason) == ["c"])
    var other = report
    other.refusals[0].count += 1
    #expect(other.hasState(of: report))
    other.refusals.removeLast()
    #expect(!other.hasState(of: report), "a new reason is published soon")
  }

  @Test func `a change is published soon, figures twice a minute, and the end removes the report`() async throws {
    let time = ManualClock(start: Timestamp(millisecondsSince1970: 1_767_225_600_000))
    let log = InMemoryLog(clock: time.clock)
    try log.createTopic("millrace.control", partitions: 1)
    let state = Mutex(ProcessReport("refunds", instance: "pod-0", version: "0.1.0"))
    let reporter = ProcessReporter(topic: "millrace.control", log: log, clock: time.clock, logger: Self.silent) {
      [state.withLock { $0 }]
    }
    let group = ServiceGroup(configuration: .init(services: [reporter], logger: Self.silent))
    let running = Task { try await group.run() }
    func records() -> [ConsumerRecord] { log.records(in: "millrace.control") }
    try await waitUntil(records().count == 1)
    state.withLock { $0.budgets = [.init(bundleId: "a", environment: "b", endpoint: "c", perSecond: 1, waiting: 0)] }
    await time.waitForSleepers()
    time.advance(by: .seconds(3))
    await time.waitForSleepers()
    #expect(records().count == 1, "figures change all the time")
    state.withLock { $0.circuit = .init(isMisconfigured: false, cause: nil) }
    time.advance(by: .seconds(3))
    try await waitUntil(records().count == 2)
    for _ in 0..<8 {
      await time.waitForSleepers()
      time.advance(by: .seconds(3))
    }
    try await waitUntil(records().count == 3)
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(records().last.map { $0.value == nil && $0.key == Array("process/refunds/pod-0".utf8) } == true)
  }

  @Test func `a report that Kafka has taken late is followed by a new one at once`() async throws {
    let time = ManualClock(start: Timestamp(millisecondsSince1970: 1_767_225_600_000))
    let log = InMemoryLog(clock: time.clock)
    try log.createTopic("millrace.control", partitions: 1)
    let reporter = ProcessReporter(topic: "millrace.control", log: log, clock: time.clock, logger: Self.silent) {
      [ProcessReport("refunds", instance: "pod-0", version: "0.1.0")]
    }
    let group = ServiceGroup(configuration: .init(services: [reporter], logger: Self.silent))
    log.setLatency(.seconds(70))
    let running = Task { try await group.run() }
    func records() -> [ConsumerRecord] { log.records(in: "millrace.control") }
    await time.waitForSleepers()
    time.advance(by: .seconds(70))
    try await waitUntil(records().count == 1)
    log.setLatency(.zero)
    await time.waitForSleepers()
    // In thirty seconds readers would have taken this process for a dead one.
    time.advance(by: .seconds(3))
    try await waitUntil(records().count == 2)
    await group.triggerGracefulShutdown()
    try await running.value
  }
}
