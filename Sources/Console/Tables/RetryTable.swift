// What waits on retry tiers, by when it is due. A value: time is a parameter.

internal import AppStore
internal import Kafka

/// Records that workers put aside.
struct RetryTable: Sendable {
  /// When something is due, seen from now.
  enum Due: String, Sendable, Hashable, CaseIterable {
    case overdue = "overdue"
    case minute = "≤ 1 min"
    case tenMinutes = "≤ 10 min"
    case hour = "≤ 1 h"
    case sixHours = "≤ 6 h"
    case later = "later"

    /// A commit is seen some seconds after what it commits was done.
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

  /// One tier of one worker.
  struct Tier: Sendable, Hashable {
    var worker: String
    /// Its delay as the topic says it: `5m`.
    var delay: String
    var waiting: Int
    var due: [Due: Int]
    /// When the first of them is due.
    var next: Timestamp?
  }

  private struct Waiting: Sendable {
    var offset: Int64
    var due: Timestamp
  }

  /// Kept in memory at most, over all tiers; what comes beyond is counted with the offsets that are not committed.
  static let limit = 100_000

  private var waiting: [TopicPartition: [Waiting]] = [:]
  private var count = 0

  /// Takes a record of a tier in.
  mutating func add(_ partition: TopicPartition, offset: Int64, due: Timestamp) {
    guard count < Self.limit else { return }
    waiting[partition, default: []].append(Waiting(offset: offset, due: due))
    count += 1
  }

  /// Forgets what the worker has finished.
  mutating func commit(_ partition: TopicPartition, _ offset: Int64) {
    guard var list = waiting[partition], let first = list.first, first.offset < offset else { return }
    let before = list.count
    list.removeAll { $0.offset < offset }
    count -= before - list.count
    waiting[partition] = list.isEmpty ? nil : list
  }

  /// A tier as the page shows it.
  func tier(of topic: String, worker: String, delay: String, partitions: Int, now: Timestamp) -> Tier {
    var tier = Tier(worker: worker, delay: delay, waiting: 0, due: [:], next: nil)
    for number in 0..<Int32(clamping: partitions) {
      for record in waiting[TopicPartition(topic: topic, partition: number)] ?? [] {
        tier.waiting += 1
        tier.due[Due(in: record.due - now), default: 0] += 1
        if record.due < tier.next ?? Timestamp(millisecondsSince1970: .max) { tier.next = record.due }
      }
    }
    return tier
  }
}
