// Records among the commands that are none: people or a later version wrote them. They harm nobody, and whoever counts
// commands says that there are some.

internal import Kafka
internal import Millrace

/// What of `millrace.operations` could not be read.
public struct PassedOver: Sendable, Hashable {
  /// How many records.
  public private(set) var count = 0
  /// The offset of the last one: a reader that begins again comes to the same ones again.
  private var last: Int64 = -1
  /// Where the first one stands, and what is wrong with it: `millrace.operations[0]@4: no JSON`.
  public private(set) var first: String?

  /// Nothing yet.
  public init() {}

  /// Takes one more.
  /// - Parameter problem: What is wrong with it.
  mutating func add(_ record: ConsumerRecord, because problem: some Error) {
    guard record.offset > last else { return }
    last = record.offset
    count += 1
    first = first ?? "\(record.topic)[\(record.partition)]@\(record.offset): \(problem)"
  }

  /// Reads a record of the topic; nil for a tombstone, and for what is passed over.
  mutating func read(_ record: ConsumerRecord) -> OperationsRecord? {
    do {
      return try OperationsRecord.read(record)
    } catch {
      add(record, because: error)
      return nil
    }
  }

  /// For people; nil where there was nothing.
  public var sentence: String? {
    guard let first else { return nil }
    return count == 1
      ? "A record that cannot be read was passed over: \(first)."
      : "\(count) records that cannot be read were passed over; the first: \(first)."
  }
}
