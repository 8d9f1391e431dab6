@testable import AppStoreSimulator

extension APIServices {
  /// How many requests met a fault so far, those that are still held up included.
  var struck: Int { gate.withGate { $0.faults.entries.reduce(0) { $0 + $1.struck } } }
}
