// Writes all delivery attempts to a file, one line of JSON each. A separate queue writes, so no delivery waits for the
// disk.

import AppStore
import AppStoreSimulator
import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// A file of delivery attempts.
final class SentFile: Sendable {
  private let path: String
  private let queue = DispatchQueue(label: "appstore-simulator.sent")
  private let file: FileHandle
  private let failure = Mutex<String?>(nil)

  init(_ path: String) throws {
    self.path = path
    // Version 1 bodies contain the shared secret.
    try "".write(toFile: path, isSecret: true)
    guard let file = FileHandle(forWritingAtPath: path) else { throw ValidationError("could not write \(path)") }
    self.file = file
  }

  func add(_ attempt: DeliveryAttempt) {
    queue.async { [self] in
      do {
        try file.write(contentsOf: Data(attempt.json.serialized() + [UInt8(ascii: "\n")]))
      } catch {
        failure.withLock { $0 = $0 ?? "\(error)" }
      }
    }
  }

  /// Returns when everything is written.
  func close() throws {
    try queue.sync { try file.close() }
    if let failure = failure.withLock({ $0 }) { throw ValidationError("\(path) is incomplete: \(failure)") }
  }
}
