// Shorthands for times and keys in the tests of decisions.

import AppStore
import AppStoreSigning
import MillraceTime
import Testing

@testable import MillraceWorker

extension Timestamp {
  /// The time this many seconds after the start of the tests.
  static func second(_ seconds: Int64) -> Timestamp {
    Timestamp(millisecondsSince1970: 1_767_225_600_000 + seconds * 1_000)
  }
}

extension MillraceClock.Instant {
  static func second(_ seconds: Double) -> Self { Self(elapsed: .seconds(seconds)) }
}

extension LedgerKey {
  /// Makes an ID from a number, distributed like a digest.
  static func number(_ number: Int) -> LedgerKey {
    var random = SeededGenerator(seed: UInt64(bitPattern: Int64(number)))
    return LedgerKey(high: random.next(), low: random.next())
  }
}

/// `#expect` for mutating calls, which the macro does not support.
func check(_ condition: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(condition, comment, sourceLocation: sourceLocation)
}
