// What a ledger tells of a call that cannot be undone: for people who look at one subscription's history.

package import AppStore
package import Kafka

/// A call to Apple, or to whatever else a handler reaches, as the ledger holds it.
package struct RecordedCall: Sendable, Hashable {
  /// What the handler named it, such as `extend/<campaign>/<originalTransactionId>`.
  package var name: String
  /// When it was first about to be made; nil where the ledger does not say so any more.
  package var intendedAt: Timestamp?
  /// What is known of it.
  package var outcome: Outcome

  /// What came of a call.
  package enum Outcome: Sendable, Hashable {
    /// It was about to be made.
    case open
    /// It was made; what came of it, in the handler's own words.
    case answered([UInt8])
    /// It was certainly not made, and nobody intends it any more.
    case withdrawn
  }

  /// Reads a record of a ledger's topic; nil for every entry that is no call, and for what this version cannot read.
  package init?(_ record: ConsumerRecord) {
    guard record.key?.first == UInt8(ascii: "e"), let key = record.key else { return nil }
    let entry: LedgerEntry
    do { entry = try LedgerRecord(key: key, value: record.value).entry() } catch { return nil }
    guard case .effect(let name, let effect) = entry else { return nil }
    self.name = name
    intendedAt = effect?.intendedAt
    outcome =
      switch effect?.progress {
      case nil: .withdrawn
      case .intended?: .open
      case .ended(let result)?: .answered(result)
      }
  }
}
