// Counts the records on retry topics by the time when they are due. A value: time is a parameter.

internal import AppStore
internal import KafkaClient

/// Records that wait on retry topics.
struct RetryTable: Sendable {
  /// Ranges of the time until a record is due.
  enum Due: String, Sendable, Hashable, CaseIterable {
    case overdue = "overdue"
    case minute = "≤ 1 min"
    case tenMinutes = "≤ 10 min"
    case hour = "≤ 1 h"
    case sixHours = "≤ 6 h"
    case later = "later"

    /// The age at which a record counts as overdue: the console sees a commit some seconds late.
    static let grace = Duration.seconds(-10)

    init(in wait: Duration) {
      self =
        switch wait {
        case ..<RetryTable.Due.grace: .overdue
        case ..<(.seconds(60)): .minute
        case ..<(.seconds(600)): .tenMinutes
        case ..<(.seconds(3_600)): .hour
        case ..<(.seconds(21_600)): .sixHours
        default: .later
        }
    }
  }

  /// One retry topic of one worker.
  struct Row: Sendable, Hashable {
    var worker: String
    /// The delay as in the topic's name, such as `5m`.
    var delay: String
    var waiting: Int
    var due: [Due: Int]
    /// The waiting records by the reason of their delay.
    var reasons: [String: Int] = [:]
    /// When the next record is due.
    var next: Timestamp?
  }

  private struct Waiting: Sendable {
    var offset: Int64
    var due: Timestamp
    var reason: String
  }

  /// The largest number of records to keep in memory, for all retry topics together. Further records are not counted.
  static let limit = 100_000

  private var waiting: [TopicPartition: [Waiting]] = [:]
  private var count = 0

  /// Adds a record of a retry topic.
  mutating func add(_ partition: TopicPartition, offset: Int64, due: Timestamp, reason: String) {
    guard count < Self.limit else { return }
    waiting[partition, default: []].append(Waiting(offset: offset, due: due, reason: reason))
    count += 1
  }

  /// Removes the records below a committed offset.
  mutating func commit(_ partition: TopicPartition, _ offset: Int64) {
    guard var list = waiting[partition], let first = list.first, first.offset < offset else { return }
    let before = list.count
    list.removeAll { $0.offset < offset }
    count -= before - list.count
    waiting[partition] = list.isEmpty ? nil : list
  }

  /// Returns the counts of one retry topic.
  func row(of topic: String, worker: String, delay: String, partitions: Int, now: Timestamp) -> Row {
    var row = Row(worker: worker, delay: delay, waiting: 0, due: [:], next: nil)
    for number in 0..<Int32(clamping: partitions) {
      for record in waiting[TopicPartition(topic: topic, partition: number)] ?? [] {
        row.waiting += 1
        row.due[Due(in: record.due - now), default: 0] += 1
        row.reasons[record.reason, default: 0] += 1
        if record.due < row.next ?? Timestamp(millisecondsSince1970: .max) { row.next = record.due }
      }
    }
    return row
  }
}
