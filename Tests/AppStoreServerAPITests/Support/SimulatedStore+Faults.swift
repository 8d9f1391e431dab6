@testable import AppStoreSimulator

extension APIServices {
  /// The number of requests with a fault so far, including those that are still delayed.
  var struck: Int { gate.withGate { $0.faults.entries.reduce(0) { $0 + $1.struck } } }
}
