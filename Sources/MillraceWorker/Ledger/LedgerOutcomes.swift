// The outcomes of notifications in the records of a ledger topic, for readers that own no lane.

package import KafkaClient

/// The newest known outcome of each notification or event of a worker.
package struct LedgerOutcomes: Sendable {
  /// The outcome of a notification.
  package enum Outcome: Sendable, Hashable {
    /// The worker has finished it, even if there was nothing to do.
    case done
    /// It waits after this number of attempts.
    case delayed(attempts: Int)
    /// It is a dead letter.
    case dead
  }

  private var states: [LedgerKey: Handled.State] = [:]

  /// No outcomes.
  package init() {}

  /// Adds the outcomes in a record, and skips an unreadable one. Later records replace earlier ones.
  package mutating func take(_ record: ConsumerRecord) {
    guard let key = record.key, let first = key.first else { return }
    guard first == LedgerKind.handled.rawValue || first == LedgerKind.page.rawValue else { return }
    let entry: LedgerEntry
    do { entry = try LedgerEntry(key: key, value: record.value) } catch { return }
    if let handled: Handled = entry.content() { states[entry.name.digest] = handled.state }
    if let page: LedgerPage = entry.content() { for line in page.lines { states[line.id] = line.handled.state } }
  }

  /// Adds the outcomes of older records, which replace nothing.
  package mutating func add(older: LedgerOutcomes) { states.merge(older.states) { newer, _ in newer } }

  /// The outcome of a notification or event by its `ce_id`; nil if these records do not have it.
  package func outcome(of id: String) -> Outcome? {
    switch states[LedgerKey(id: id)] {
    case .done?: .done
    case .delayed(let attempts, _)?: .delayed(attempts: attempts)
    case .dead?: .dead
    case nil: nil
    }
  }
}
