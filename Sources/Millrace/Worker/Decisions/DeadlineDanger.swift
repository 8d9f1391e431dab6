// When a deadline is in danger: a person can still do something then.

internal import AppStore

/// The last quarter of a record's time.
enum DeadlineDanger {
  /// When it begins: three quarters of the way from when the record was first written to its deadline.
  static func beginning(written: Timestamp, deadline: Timestamp) -> Timestamp {
    deadline + max(.zero, deadline - written) / -4
  }

  /// Whether it begins between these moments: told once, by whoever sees it coming.
  static func begins(
    after now: Timestamp, until next: Timestamp, written: Timestamp, deadline: Timestamp?
  ) -> Bool {
    guard let deadline else { return false }
    let beginning = beginning(written: written, deadline: deadline)
    return now < beginning && beginning <= next
  }

  /// Whether it has begun.
  static func hasBegun(at now: Timestamp, written: Timestamp, deadline: Timestamp?) -> Bool {
    deadline.map { beginning(written: written, deadline: $0) <= now } ?? false
  }
}
