// Open addressing with linear probing, without tombstones, for the tables of a ledger. The slots grow by an eighth of
// their number, and an eighth of them is free.

/// A slot of a hash table.
protocol ProbedSlot: Sendable {
  /// Creates a free slot.
  init()
  var isFree: Bool { get }
  /// The hash of the entry, evenly distributed over 64 bits.
  var hash: UInt64 { get }
}

/// The slots of a hash table. A slot itself knows how it is compared.
struct ProbedSlots<Slot: ProbedSlot>: Sendable {
  private var slots: [Slot] = []
  /// The number of entries.
  private(set) var count = 0

  /// The size of all slots, used and free, in bytes.
  var bytes: Int { slots.capacity * MemoryLayout<Slot>.stride }

  /// The places of all slots, used and free.
  var places: Range<Int> { slots.indices }

  /// The slot at a place. A slot that replaces an entry has the hash of that entry.
  subscript(place: Int) -> Slot {
    get { slots[place] }
    set { slots[place] = newValue }
  }

  func forEach(_ body: (Slot) -> Void) { for slot in slots where !slot.isFree { body(slot) } }

  /// Returns the place of an entry, or the free place where it belongs; nil if there are no slots.
  func place(of hash: UInt64, where isEntry: (Slot) -> Bool) -> Int? {
    guard !slots.isEmpty else { return nil }
    var index = home(of: hash)
    // The loop ends, because an eighth of the slots is free.
    while !slots[index].isFree, !isEntry(slots[index]) { index = index + 1 == slots.count ? 0 : index + 1 }
    return index
  }

  /// Adds an entry.
  /// - Parameter place: The free place where it belongs. Searches are long in slots this full, so none is repeated.
  mutating func insert(_ slot: Slot, at place: Int?) {
    count += 1
    if let place, count * 8 <= slots.count * 7 {
      slots[place] = slot
    } else {
      resize(to: slots.count + max(8, slots.count / 8))
      put(slot)
    }
  }

  /// Removes the entry at a place.
  mutating func remove(at place: Int) {
    var (hole, index) = (place, place)
    // Entries that were displaced past the hole move back into it, so that no search ends at the hole too early.
    while true {
      index = index + 1 == slots.count ? 0 : index + 1
      guard !slots[index].isFree else { break }
      let home = home(of: slots[index].hash)
      let isReachable = hole < index ? home <= hole || home > index : home <= hole && home > index
      if isReachable {
        slots[hole] = slots[index]
        hole = index
      }
    }
    slots[hole] = Slot()
    count -= 1
    if slots.count > 64, count * 2 < slots.count { resize(to: count + count / 4 + 8) }
  }

  private mutating func put(_ slot: Slot) {
    var index = home(of: slot.hash)
    while !slots[index].isFree { index = index + 1 == slots.count ? 0 : index + 1 }
    slots[index] = slot
  }

  private mutating func resize(to capacity: Int) {
    let old = slots
    slots = [Slot](repeating: Slot(), count: capacity)
    for slot in old where !slot.isFree { put(slot) }
  }

  /// Hashes are evenly distributed, so scaling replaces a modulus: it works for any number of slots without a division.
  private func home(of hash: UInt64) -> Int { Int(hash.multipliedFullWidth(by: UInt64(slots.count)).high) }
}
