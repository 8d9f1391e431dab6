// Finds what a lane has about customers who are erased. A lane may have millions of timers and states, and only a few of
// them belong to the customers. The search therefore reads a copy of the ledger outside of the lane's actor, once for many
// customers. Meanwhile the ledger notes the names that change, and it examines these together with the names found. See
// docs/adr/0058-an-erasure-searches-a-copy-of-the-ledger.md.

/// A search for everything that belongs to some record keys, in the ledger as it was when the search began.
struct ErasureSearch: Sendable {
  private let keys: Set<ArraySlice<UInt8>>
  private let timers: TimerTable
  private let states: CompactTable
  private let effects: EffectTable

  init(of keys: [[UInt8]], timers: TimerTable, states: CompactTable, effects: EffectTable) {
    self.keys = Set(keys.map { $0[...] })
    self.timers = timers
    self.states = states
    self.effects = effects
  }

  /// Returns the names of the timers, states and effects of the keys.
  @concurrent func run() async -> Set<LedgerEntry.Name> { names() }

  /// Returns the same as ``run()``, in the caller's task.
  func names() -> Set<LedgerEntry.Name> {
    var names: Set<LedgerEntry.Name> = []
    for key in keys {
      // A timer or state whose name is the key does not store the key.
      let text = String(decoding: key, as: UTF8.self)
      names.formUnion([.timer(text), .state(text)])
    }
    names.formUnion(timers.names(of: keys).map { .timer($0) })
    names.formUnion(effects.names(of: keys).map { .effect($0) })
    for segment in 0..<CompactTable.segmentCount {
      states.forEach(in: segment) { name, bytes in
        if let key = StoredState.key(in: bytes), keys.contains(key) {
          names.insert(.state(CompactTable.name(ofKey: name)))
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
    var (timerNames, stateNames, effectNames): ([String], [String], [String]) = ([], [], [])
    for name in found.union(endErasureSearch()) {
      switch name {
      case .timer(let name): timerNames.append(name)
      case .state(let name): stateNames.append(name)
      case .effect(let name): effectNames.append(name)
      case .handled, .counter, .tail, .page, .owner, .erasure: break
      }
    }
    for name in timerNames.sorted() {
      guard let key = timer(name)?.key, keys.contains(key) else { continue }
      entries[key, default: []].append(.timer(name, nil))
    }
    #if PLANTED_FAULTS
      if PlantedFault.erasedStatesStay.isActive { stateNames = [] }
    #endif
    for name in stateNames.sorted() {
      guard let state = storedState(name) else { continue }
      for key in Set([Array(name.utf8), state.key].compactMap(\.self)) where keys.contains(key) {
        entries[key, default: []].append(.state(name, nil))
      }
    }
    for name in effectNames.sorted() {
      guard let effect = effect(name), keys.contains(effect.key) else { continue }
      entries[effect.key, default: []].append(
        .effect(name, Effect(intendedAt: effect.intendedAt, progress: .ended(result: []))))
    }
    return entries
  }
}
