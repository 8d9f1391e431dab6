// Collects the lines that are written to a log sink.

@testable import MillraceCore
import Synchronization

final class Lines: Sendable {
  private let lines = Mutex<[String]>([])

  var sink: LogSink {
    LogSink { bytes in self.lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
  }

  var all: [String] { lines.withLock { $0 } }
}
