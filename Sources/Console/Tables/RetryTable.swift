// Counts the records on retry topics by the time when they are due. A value: time is a parameter.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

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
    var identity: Int
  }

  /// A record of a retry topic.
  private struct Place: Sendable, Hashable {
    var partition: TopicPartition
    var offset: Int64
    var due: Timestamp
  }

  /// The largest number of records to keep in memory, for all retry topics together. Further records are not counted.
  static let limit = 100_000

  private var waiting: [TopicPartition: [Waiting]] = [:]
  private var count = 0
  /// The newest copy of each delayed record. A record that is delayed again has several copies until the worker commits an offset
  /// behind the older ones.
  private var newest: [Int: Place] = [:]

  /// Adds a record of a retry topic.
  /// - Parameter first: The position at which the worker first read the record. Its copies share it.
  mutating func add(
    _ partition: TopicPartition, offset: Int64, due: Timestamp, reason: String, of worker: String, first: RecordPosition
  ) {
    guard count < Self.limit else { return }
    var hasher = Hasher()
    hasher.combine(worker)
    hasher.combine(first)
    let identity = hasher.finalize()
    waiting[partition, default: []].append(Waiting(offset: offset, due: due, reason: reason, identity: identity))
    count += 1
    // The topics of different delays are read in no order.
    if newest[identity].map({ $0.due <= due }) ?? true {
      newest[identity] = Place(partition: partition, offset: offset, due: due)
    }
  }

  /// Removes the records below a committed offset.
  mutating func commit(_ partition: TopicPartition, _ offset: Int64) {
    guard var list = waiting[partition], let first = list.first, first.offset < offset else { return }
    let before = list.count
    for record in list where record.offset < offset {
      if isNewest(record, in: partition) { newest[record.identity] = nil }
    }
    list.removeAll { $0.offset < offset }
    count -= before - list.count
    waiting[partition] = list.isEmpty ? nil : list
  }

  private func isNewest(_ record: Waiting, in partition: TopicPartition) -> Bool {
    guard let place = newest[record.identity] else { return false }
    return place.partition == partition && place.offset == record.offset
  }

  /// Returns the counts of one retry topic.
  func row(of topic: String, worker: String, delay: String, partitions: Int, now: Timestamp) -> Row {
    var row = Row(worker: worker, delay: delay, waiting: 0, due: [:], next: nil)
    for number in 0..<Int32(clamping: partitions) {
      let partition = TopicPartition(topic: topic, partition: number)
      for record in waiting[partition] ?? [] where isNewest(record, in: partition) {
        row.waiting += 1
        row.due[Due(in: record.due - now), default: 0] += 1
        row.reasons[record.reason, default: 0] += 1
        if record.due < row.next ?? Timestamp(millisecondsSince1970: .max) { row.next = record.due }
      }
    }
    return row
  }
}
