// A table of handled notifications that takes at most 32 bytes for each.
//
// A slot takes 24 bytes; the rest is for the free slots that open addressing needs. A single table would have to
// double: half of it would be empty afterwards, and both tables would exist while it grows. So there are 256 small
// ones, and each grows by an eighth of its size.

/// Handled notifications by id.
struct HandledTable: Sendable {
  private var segments = [HandledSegment](repeating: HandledSegment(), count: 256)
  private var sweepAt = 0

  /// The number of entries.
  private(set) var count = 0

  /// The size of all slots, used and free, in bytes.
  var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  subscript(id: LedgerKey) -> Handled? {
    get { segments[Self.segment(of: id)].find(id) }
    set {
      if let newValue {
        if segments[Self.segment(of: id)].insert(id, newValue) { count += 1 }
      } else if segments[Self.segment(of: id)].remove(id) {
        count -= 1
      }
    }
  }

  /// Returns the entries to remove from the next `parts` of 256 parts of the table. A sweep of the whole table would
  /// block the lane.
  mutating func nextCandidates(parts: Int, where isOld: (Handled) -> Bool) -> [LedgerKey] {
    var found: [LedgerKey] = []
    for _ in 0..<min(max(0, parts), segments.count) {
      segments[sweepAt].forEach { if isOld($1) { found.append($0) } }
      sweepAt = (sweepAt + 1) % segments.count
    }
    return found
  }

  private static func segment(of id: LedgerKey) -> Int { Int(id.high >> 56) }
}

/// One part of the table: open addressing with linear probing, without tombstones.
struct HandledSegment: Sendable {
  private struct Slot: Sendable {
    var high: UInt64 = 0
    var low: UInt64 = 0
    /// For a done notification, the digest; for a delayed one, attempt and retry topic.
    var detail: UInt32 = 0
    /// State in the upper two bits, 0 for a free slot; one bit for an entry on a page; the minute in the rest.
    var stamp: UInt32 = 0
  }

  private var slots: [Slot] = []
  private var count = 0

  var bytes: Int { slots.count * MemoryLayout<Slot>.stride }

  func find(_ id: LedgerKey) -> Handled? {
    guard let index = index(of: id) else { return nil }
    return Self.handled(slots[index])
  }

  func forEach(_ body: (LedgerKey, Handled) -> Void) {
    for slot in slots {
      guard let handled = Self.handled(slot) else { continue }
      body(LedgerKey(high: slot.high, low: slot.low), handled)
    }
  }

  /// - Returns: Whether the entry is new.
  mutating func insert(_ id: LedgerKey, _ handled: Handled) -> Bool {
    let slot = Self.slot(id, handled)
    // A failed search ends at the slot where the entry belongs, so reuse it: searches are long in a table this full.
    if !slots.isEmpty {
      let place = place(of: id)
      let isNew = slots[place].stamp == 0
      if !isNew || (count + 1) * 8 <= slots.count * 7 {
        slots[place] = slot
        if isNew { count += 1 }
        return isNew
      }
    }
    resize(to: slots.count + max(8, slots.count / 8))
    put(slot)
    count += 1
    return true
  }

  /// - Returns: Whether the entry existed.
  mutating func remove(_ id: LedgerKey) -> Bool {
    guard var hole = index(of: id) else { return false }
    // Entries that were displaced past the hole move back into it, so that no search ends at the hole too early.
    var index = hole
    while true {
      index = (index + 1) % slots.count
      guard slots[index].stamp != 0 else { break }
      let home = home(of: slots[index].low)
      let isReachable = hole < index ? home <= hole || home > index : home <= hole && home > index
      if isReachable {
        slots[hole] = slots[index]
        hole = index
      }
    }
    slots[hole] = Slot()
    count -= 1
    if slots.count > 64, count * 2 < slots.count { resize(to: count + count / 4 + 8) }
    return true
  }

  private func index(of id: LedgerKey) -> Int? {
    guard !slots.isEmpty else { return nil }
    let place = place(of: id)
    return slots[place].stamp == 0 ? nil : place
  }

  /// Returns the slot of an entry, or the free slot where it belongs.
  private func place(of id: LedgerKey) -> Int {
    var index = home(of: id.low)
    // The loop ends, because an eighth of the slots is free.
    while slots[index].stamp != 0, slots[index].low != id.low || slots[index].high != id.high {
      index = index + 1 == slots.count ? 0 : index + 1
    }
    return index
  }

  private mutating func put(_ slot: Slot) {
    var index = home(of: slot.low)
    while slots[index].stamp != 0 { index = index + 1 == slots.count ? 0 : index + 1 }
    slots[index] = slot
  }

  /// Ids are evenly distributed, so scaling replaces a modulus: it works for any number of slots and needs no division.
  private func home(of low: UInt64) -> Int { Int(low.multipliedFullWidth(by: UInt64(slots.count)).high) }

  private mutating func resize(to capacity: Int) {
    let old = slots
    slots = [Slot](repeating: Slot(), count: capacity)
    for slot in old where slot.stamp != 0 { put(slot) }
  }

  private static func slot(_ id: LedgerKey, _ handled: Handled) -> Slot {
    let (code, detail): (UInt32, UInt32) =
      switch handled.state {
      case .done(let digest): (1, digest)
      case .delayed(let attempt, let delayIndex):
        (2, UInt32(Handled.code(ofDelayIndex: delayIndex)) << 16 | UInt32(UInt16(clamping: attempt)))
      case .dead: (3, 0)
      }
    let page: UInt32 = handled.isOnPage ? 1 << 29 : 0
    return Slot(
      high: id.high, low: id.low, detail: detail, stamp: code << 30 | page | min(handled.minute, Handled.lastMinute))
  }

  private static func handled(_ slot: Slot) -> Handled? {
    let minute = slot.stamp & Handled.lastMinute
    switch slot.stamp >> 30 {
    case 1:
      var handled = Handled(.done(digest: slot.detail), minute: minute)
      handled.isOnPage = slot.stamp & 1 << 29 != 0
      return handled
    case 2:
      return Handled(
        .delayed(
          attempt: Int(slot.detail & 0xFFFF),
          delayIndex: Handled.delayIndex(ofCode: UInt16(truncatingIfNeeded: slot.detail >> 16))),
        minute: minute)
    case 3: return Handled(.dead, minute: minute)
    default: return nil
    }
  }
}
