// The time of a record. Its timestamp is real time, because retention uses it. If `clock` is configured, a header holds
// the simulated time, and all decisions use that.

package import AppStore
package import MillraceTime
package import KafkaClient

/// The header with a record's simulated time.
enum RecordTime {
  static let header = "millrace-time"
}

extension ConsumerRecord {
  /// Returns the time at which the record was written, for retries, deadlines, lag and selections by time. In real time
  /// it is the timestamp, not the header, because any producer can write headers.
  /// - Returns: Nil if the broker sent no timestamp.
  package func time(by clock: MillraceClock) -> Timestamp? {
    if clock.isSimulated, let time = timeHeader { return time }
    return timestamp.map { Timestamp(millisecondsSince1970: $0) }
  }

  private var timeHeader: Timestamp? {
    guard let value = headers.last(where: { $0.name == RecordTime.header })?.value,
      let text = String(validating: value, as: UTF8.self), let milliseconds = Int64(text)
    else { return nil }
    return Timestamp(millisecondsSince1970: milliseconds)
  }
}

extension ProducerRecord {
  /// Returns the record with the process's time in a header, if that time is simulated. Kafka sets the timestamp.
  package func timed(by clock: MillraceClock) -> ProducerRecord {
    guard clock.isSimulated else { return self }
    var record = self
    // The time of a copy is the time at which the copy is written.
    record.headers.removeAll { $0.name == RecordTime.header }
    record.headers.append(RecordHeader(RecordTime.header, String(clock.wallTime.millisecondsSince1970)))
    return record
  }
}
