// The lanes of a worker after their number was multiplied. A key of lane p of m lanes is in lane p, p + m, p + 2m, … of the
// larger number, because Kafka's partitioner takes the remainder of the key's hash.

internal import MillraceRecords

/// Divides each lane among several new ones.
package struct LaneDivision: Sendable, Hashable {
  /// The number of lanes before.
  package let old: Int
  /// The number of lanes after.
  package let new: Int

  /// Returns nil unless `new` is a larger multiple of `old`.
  package init?(from old: Int, to new: Int) {
    guard old > 0, new > old, new.isMultiple(of: old), new <= Int32.max else { return nil }
    self.old = old
    self.new = new
  }

  /// The new lanes that can have keys of an old lane.
  package func parts(of lane: Int32) -> [Int32] {
    stride(from: lane, to: Int32(clamping: new), by: old).map { Int32($0) }
  }

  /// Returns the new lane of a record.
  /// - Parameter key: The record's key. A record without one, or whose partition its writer chose, keeps the number.
  package func lane(of key: [UInt8]?, in lane: Int32) -> Int32 {
    guard let key, Murmur2.partition(of: key, among: old) == lane else { return lane }
    return Murmur2.partition(of: key, among: new)
  }

  /// Returns the new lanes that need a record of the ledger of an old lane.
  ///
  /// A lane needs what belongs to its keys. The ledger knows only digests of notifications, so every part of the lane gets
  /// them. A lane never asks for digests of other keys, and removes them after the horizon.
  /// - Throws: An error if this version cannot read the record.
  package func lanes(ofLedgerKey key: [UInt8], value: [UInt8]?, in lane: Int32) throws -> [Int32] {
    let entry = try LedgerEntry(key: key, value: value)
    switch entry.name.kind {
    case .owner: return []
    // Each of the new ledgers gets an identity of its own. Readers add the other counters of all lanes.
    case .counter:
      let name = entry.name.text
      return LedgerIdentity.isReserved(name) && !RunOutcome.isCounter(name) ? [] : [lane]
    case .handled, .tail, .page, .erasure, .effect, .timer, .state:
      return entry.recordKey.map { lanes(of: Array($0), in: lane) } ?? parts(of: lane)
    }
  }

  private func lanes(of key: [UInt8], in lane: Int32) -> [Int32] {
    // A notification without a key is in any lane.
    guard !key.isEmpty, Murmur2.partition(of: key, among: old) == lane else { return parts(of: lane) }
    return [Murmur2.partition(of: key, among: new)]
  }
}
