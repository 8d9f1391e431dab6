// Finds what a lane has about customers who are erased. A lane may have millions of timers and states, and only a few of
// them belong to the customers. The search therefore reads a copy of the ledger outside of the lane's actor, once for many
// customers. Meanwhile the ledger notes the names that change, and it examines these together with the names found. See
// docs/adr/0058-an-erasure-searches-a-copy-of-the-ledger.md.

/// A search for everything that belongs to some record keys, in the ledger as it was when the search began.
struct ErasureSearch: Sendable {
  private let keys: Set<ArraySlice<UInt8>>
  private let tables: [LedgerKind: CompactTable]

  init(of keys: [[UInt8]], in tables: [LedgerKind: CompactTable]) {
    self.keys = Set(keys.map { $0[...] })
    self.tables = tables
  }

  /// Returns the names of the entries of the keys.
  @concurrent func run() async -> Set<LedgerEntry.Name> { names() }

  /// Returns the same as ``run()``, in the caller's task.
  func names() -> Set<LedgerEntry.Name> {
    var names: Set<LedgerEntry.Name> = []
    for (kind, table) in tables {
      guard let values = kind.keyedValues else { continue }
      // An entry whose name is the key does not store the key.
      names.formUnion(keys.map { LedgerEntry.Name(kind, $0) })
      table.forEach { name, fields in
        if let key = ByteReader.checked(fields, { try values.key(&$0) }) ?? nil, keys.contains(key) {
          names.insert(LedgerEntry.Name(kind, CompactTable.name(ofKey: name).utf8))
        }
      }
    }
    return names
  }
}

extension Ledger {
  /// Returns the entries that erase everything that belongs to record keys, by key. The names of effects stay, because an
  /// effect must not be caused twice. Notifications are known by digests only.
  /// - Parameter found: The result of the search that ``searchErased(_:)`` began. The search ends.
  mutating func entries(erasing keys: [[UInt8]], found: Set<LedgerEntry.Name>) -> [[UInt8]: [LedgerEntry]] {
    let keys = Set(keys)
    var entries: [[UInt8]: [LedgerEntry]] = [:]
    for name in found.union(endErasureSearch()).sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      #if PLANTED_FAULTS
        if PlantedFault.erasedStatesStay.isActive, name.kind == .state { continue }
      #endif
      guard let key = fields(name).flatMap({ name.recordKey(in: $0) }) else { continue }
      let erased: LedgerEntry =
        if name.kind == .effect, let effect = effect(name.text) {
          .effect(name.text, Effect(intendedAt: effect.intendedAt, progress: .ended(result: [])))
        } else {
          LedgerEntry(removing: name)
        }
      // A state whose name is a key is about that customer, also if another one stored it.
      let owners = Set([Array(key)] + (name.kind == .state ? [Array(name.bytes)] : []))
      for key in owners.intersection(keys) { entries[key, default: []].append(erased) }
    }
    return entries
  }
}
