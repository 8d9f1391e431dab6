// Decides when a deadline is in danger, so that an operator can still act.

internal import AppStore

/// The last quarter of the time between a record's first write and its deadline.
enum DeadlineDanger {
  /// Returns the start of the last quarter.
  static func beginning(written: Timestamp, deadline: Timestamp) -> Timestamp {
    deadline + max(.zero, deadline - written) / -4
  }

  /// Whether the last quarter starts between these times. This way the danger is reported once.
  static func begins(
    after now: Timestamp, until next: Timestamp, written: Timestamp, deadline: Timestamp?
  ) -> Bool {
    guard let deadline else { return false }
    let beginning = beginning(written: written, deadline: deadline)
    return now < beginning && beginning <= next
  }

  /// Whether the last quarter has started.
  static func hasBegun(at now: Timestamp, written: Timestamp, deadline: Timestamp?) -> Bool {
    deadline.map { beginning(written: written, deadline: $0) <= now } ?? false
  }
}
