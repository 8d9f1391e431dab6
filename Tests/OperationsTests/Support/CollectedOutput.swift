// An output that collects its lines.

import Operations
import Synchronization

final class CollectedOutput: Sendable {
  private let bytes = Mutex<[UInt8]>([])

  /// The written lines.
  var lines: [String] {
    bytes.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
  }

  func output(isTerminal: Bool = false, width: Int? = nil, usesColor: Bool = false) -> Output {
    Output(isTerminal: isTerminal, width: width, usesColor: usesColor) { written throws(OperationError) in
      self.bytes.withLock { $0 += written }
    }
  }

  /// An output that the reader has closed.
  static let closed = Output { _ throws(OperationError) in
    throw OperationError(.outputClosed, "the reader is gone", remedy: "nothing to do")
  }
}
