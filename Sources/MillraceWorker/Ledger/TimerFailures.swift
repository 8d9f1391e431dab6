// The failed runs of a timer's handler. Their count is in headers of the timer's ledger record, so that it survives the
// process. Versions that do not know the headers ignore them; another layout of the value would stop their lanes. See
// docs/adr/0057-a-failing-timer-is-counted-in-headers-of-its-ledger-record.md.

internal import AppStore
internal import KafkaClient

/// The failed runs of a timer's handler.
struct TimerFailures: Sendable, Hashable {
  /// The number of failed runs since the timer was set.
  var attempts: Int
  /// The time of the next run.
  var due: Timestamp

  private enum Name {
    static let attempts = "millrace-timer-attempts"
    static let due = "millrace-timer-due"
  }

  init(attempts: Int, due: Timestamp) {
    self.attempts = attempts
    self.due = due
  }

  /// Reads the headers of a timer's ledger record. Nil if they are missing or invalid: the count then begins anew.
  init?(_ headers: [RecordHeader]) {
    func number(_ name: String) -> Int64? {
      headers.last { $0.name == name }?.value.flatMap { String(validating: $0, as: UTF8.self) }.flatMap { Int64($0) }
    }
    guard let attempts = number(Name.attempts).flatMap({ Int(exactly: $0) }), attempts > 0, let due = number(Name.due)
    else { return nil }
    self.init(attempts: attempts, due: Timestamp(millisecondsSince1970: due))
  }

  /// The headers of the timer's ledger record.
  var headers: [RecordHeader] {
    [
      RecordHeader(Name.attempts, String(attempts)), RecordHeader(Name.due, String(due.millisecondsSince1970)),
    ]
  }
}
