// Rows of consecutive records of one partition.

internal import KafkaClient
internal import MillraceCore

/// The rows of a page of records.
struct EncodedPage: Sendable {
  /// A record that is not a row.
  struct Rejected: Sendable {
    var offset: Int64
    var problem: RowProblem
    var key: [UInt8]?
    var value: [UInt8]?
  }

  /// A row of a table that has a key.
  struct Keyed: Sendable {
    var key: [UInt8]
    /// The row's place in ``rows``; nil if the row is deleted.
    var place: Range<Int>?
  }

  let partition: TopicPartition
  let table: PostgresSettings.Table
  /// The offset before which everything has been written.
  let start: Int64
  /// The offset from which the next page starts.
  private(set) var end: Int64
  /// The rows in the text format of COPY.
  private(set) var rows: [UInt8] = []
  /// The rows by key, in order; empty for a table without a key.
  private(set) var keyed: [Keyed] = []
  private(set) var rejected: [Rejected] = []
  /// The customer whose rows are deleted after these rows were written; nil if there is none.
  private(set) var erased: [UInt8]?
  /// How many records the page has. It ends with the first that erases a customer: rows before and after it are written
  /// in different transactions.
  private(set) var count = 0

  init(
    _ records: some Collection<ConsumerRecord>, of partition: TopicPartition, from start: Int64, to end: Int64,
    as encoder: RowEncoder, _ definition: TableDefinition
  ) {
    (self.partition, self.table, self.start, self.end) = (partition, definition.table, start, end)
    rows.reserveCapacity(records.count * 512)
    for record in records {
      let place = rows.count
      count += 1
      if let key = encoder.erasedKey(of: record) {
        erased = key
        self.end = record.offset + 1
        return
      }
      do throws(RowProblem) {
        if definition.key != nil, record.value == nil, let key = record.key {
          keyed.append(Keyed(key: key, place: nil))
          continue
        }
        try encoder.append(record, to: &rows)
        if definition.key != nil, let key = record.key { keyed.append(Keyed(key: key, place: place..<rows.count)) }
      } catch {
        rows.removeSubrange(place...)
        rejected.append(Rejected(offset: record.offset, problem: error, key: record.key, value: record.value))
      }
    }
  }
}
