// Everything that was sent, on disk: a line of JSON for each attempt. Written by a queue of its own, so that no delivery
// waits for a disk.

import AppStore
import AppStoreSimulator
import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// A file of attempts.
final class SentFile: Sendable {
  private let path: String
  private let queue = DispatchQueue(label: "appstore-simulator.sent")
  private let file: FileHandle
  private let failure = Mutex<String?>(nil)

  init(_ path: String) throws {
    self.path = path
    // Bodies of version 1 hold the shared secret.
    try "".write(toFile: path, isSecret: true)
    guard let file = FileHandle(forWritingAtPath: path) else { throw ValidationError("\(path) cannot be written") }
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
    if let failure = failure.withLock({ $0 }) { throw ValidationError("\(path) is not complete: \(failure)") }
  }
}
