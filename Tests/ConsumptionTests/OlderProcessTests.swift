// Tests what a process says beside a process of an older version, which reads fewer topics.

import KafkaClient
import Logging
import MillraceTesting
import MillraceTime
import Synchronization
import TestSupport
import Testing

@testable import Consumption
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct OlderProcessTests {
  @Test func `beside a process that does not read the refunds, the log says why lanes do not start`() async throws {
    let stage = try ConsumptionStage(lanes: 4)
    let lines = Lines()
    try await stage.running(logger: lines.logger) {
      #expect(lines.all.isEmpty)
      let reader = try stage.log.process("older").makeReader(
        group: stage.topics.group, topics: stage.topics.sources.filter { !$0.hasSuffix("refunds") },
        options: LogReaderOptions())
      let member = Task {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { do { try await reader.run() } catch { Issue.record("\(error)") } }
          for await event in reader.events { if case .revoked(let revocation) = event { revocation.complete() } }
        }
      }
      try await stage.until(meanwhile: { stage.time.advance(by: .milliseconds(100)) }) { !lines.all.isEmpty }
      member.cancel()
    }
    let line = try #require(lines.all.first)
    #expect(line.contains("another process of the group subscribes to other topics"), "\(line)")
    #expect(line.contains("appstore.notifications.consumption-requests"), "\(line)")
  }
}

/// Collects warnings about lanes.
private final class Lines: Sendable {
  private struct Handler: LogHandler {
    let lines: Lines
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      guard "\(event.message)".contains("lanes cannot start") else { return }
      lines.state.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
  }

  private let state = Mutex<[String]>([])
  var all: [String] { state.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
