import KafkaClient
import Logging
import Synchronization

/// Collects the records of a scan.
final class Found: Sendable {
  private let state = Mutex<[ConsumerRecord]>([])
  var records: [ConsumerRecord] { state.withLock { $0 } }
  func add(_ records: [ConsumerRecord]) { state.withLock { $0 += records } }
}

extension ConsumerRecord {
  /// Returns the value of a header as text.
  func text(_ header: String) -> String? {
    headers.last { $0.name == header }?.value.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Collects the messages that are logged as warnings or errors.
final class ErrorLog: Sendable {
  private let state = Mutex<[String]>([])
  var lines: [String] { state.withLock { $0 } }

  var logger: Logger { Logger(label: "errors") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: ErrorLog
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let more = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      log.state.withLock { $0.append(([event.message.description] + more).joined(separator: " ")) }
    }
  }
}
