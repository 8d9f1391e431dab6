// A timer with its name, as a lane runs it and as its dead letter keeps it.

internal import AppStore
internal import KafkaClient

/// A timer and its name.
///
/// A dead letter of a timer copies no record. It has the key and value of the timer, and headers hold the
/// timer's name and time.
struct NamedTimer: Sendable, Hashable {
  var name: String
  var timer: LaneTimer

  private enum Name {
    static let timer = "millrace-timer"
    static let at = "millrace-timer-at"
  }

  init(_ name: String, _ timer: LaneTimer) { (self.name, self.timer) = (name, timer) }

  /// Reads a dead letter. Nil if the dead letter belongs to a record.
  init?(_ letter: ConsumerRecord) {
    func text(_ name: String) -> String? {
      letter.headers.last { $0.name == name }?.value.flatMap { String(validating: $0, as: UTF8.self) }
    }
    guard let name = text(Name.timer), let at = text(Name.at).flatMap({ Int64($0) }) else { return nil }
    self.init(
      name,
      LaneTimer(at: Timestamp(millisecondsSince1970: at), key: letter.key ?? [], payload: letter.value ?? []))
  }

  /// The number of failed runs.
  var attempts: Int { timer.failures?.attempts ?? 0 }

  /// The headers of its dead letter.
  var headers: [RecordHeader] {
    [RecordHeader(Name.timer, name), RecordHeader(Name.at, String(timer.at.millisecondsSince1970))]
  }
}
