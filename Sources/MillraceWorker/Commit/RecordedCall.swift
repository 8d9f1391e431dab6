// The ledger's record of a call that cannot be undone, for operators who inspect the history of a subscription.

package import AppStore
package import KafkaClient

/// A call to Apple or to another server, as the ledger stores it.
package struct RecordedCall: Sendable, Hashable {
  /// The effect's name, for instance `extend/<campaign>/<originalTransactionId>`.
  package var name: String
  /// The time when the intent was first written; nil if the ledger no longer has it.
  package var intendedAt: Timestamp?
  package var outcome: Outcome

  /// The status of a call.
  package enum Outcome: Sendable, Hashable {
    /// The intent was written; the result is unknown.
    case open
    /// The call was made; the bytes are the result that the handler returned.
    case answered([UInt8])
    /// The call was certainly not made, and the intent was withdrawn.
    case withdrawn
  }

  /// Reads a record of a ledger topic. Nil for any other entry, and for an entry that this version cannot read.
  package init?(_ record: ConsumerRecord) {
    guard let key = record.key, key.first == LedgerKind.effect.rawValue else { return nil }
    let entry: LedgerEntry
    do { entry = try LedgerEntry(key: key, value: record.value) } catch { return nil }
    let effect: Effect? = entry.content()
    name = entry.name.text
    intendedAt = effect?.intendedAt
    outcome =
      switch effect?.progress {
      case nil: .withdrawn
      case .intended?: .open
      case .ended(let result)?: .answered(result)
      }
  }
}
