// A table of handled notifications that takes at most 32 bytes for each.
//
// A slot takes 24 bytes; the rest is for the free slots that open addressing needs. A single table would have to
// double: half of it would be empty afterwards, and both tables would exist while it grows. So there are 256 small
// ones, and each grows by an eighth of its size.

/// Handled notifications by id.
struct HandledTable: Sendable {
  private var segments = [ProbedSlots<HandledSlot>](repeating: ProbedSlots(), count: 256)
  private var sweepAt = 0

  /// The number of entries.
  private(set) var count = 0

  /// The size of all slots, used and free, in bytes.
  var bytes: Int { segments.reduce(0) { $0 + $1.bytes } }

  subscript(id: LedgerKey) -> Handled? {
    get {
      let segment = Self.segment(of: id)
      return place(of: id, in: segment).flatMap { segments[segment][$0].handled }
    }
    set {
      let segment = Self.segment(of: id)
      let place = place(of: id, in: segment)
      let isNew = place.map { segments[segment][$0].isFree } ?? true
      switch (newValue, place) {
      case (let handled?, let place?) where !isNew: segments[segment][place] = HandledSlot(id, handled)
      case (let handled?, _):
        segments[segment].insert(HandledSlot(id, handled), at: place)
        count += 1
      case (nil, let place?) where !isNew:
        segments[segment].remove(at: place)
        count -= 1
      case (nil, _): break
      }
    }
  }

  /// Returns the entries to remove from the next `parts` of 256 parts of the table. A sweep of the whole table would
  /// block the lane.
  mutating func nextCandidates(parts: Int, where isOld: (Handled) -> Bool) -> [LedgerKey] {
    var found: [LedgerKey] = []
    for _ in 0..<min(max(0, parts), segments.count) {
      segments[sweepAt].forEach { slot in
        if let handled = slot.handled, isOld(handled) { found.append(slot.id) }
      }
      sweepAt = (sweepAt + 1) % segments.count
    }
    return found
  }

  private static func segment(of id: LedgerKey) -> Int { Int(id.high >> 56) }

  private func place(of id: LedgerKey, in segment: Int) -> Int? {
    segments[segment].place(of: id.low) { $0.id == id }
  }
}

/// A handled notification in 24 bytes.
private struct HandledSlot: ProbedSlot {
  var id = LedgerKey(high: 0, low: 0)
  /// The detail of ``Handled/code``.
  private var detail: UInt32 = 0
  /// The code of the state in the upper two bits, 0 for a free slot; one bit for an entry on a page; the minute.
  private var stamp: UInt32 = 0

  init() {}

  init(_ id: LedgerKey, _ handled: Handled) {
    self.id = id
    let code = handled.code
    detail = code.detail
    stamp = UInt32(code.state) << 30 | (handled.isOnPage ? 1 << 29 : 0) | min(handled.minute, Handled.lastMinute)
  }

  var isFree: Bool { stamp == 0 }
  var hash: UInt64 { id.low }

  /// Nil for a free slot.
  var handled: Handled? {
    guard let state = Handled.state(ofCode: UInt8(stamp >> 30), detail) else { return nil }
    var handled = Handled(state, minute: stamp & Handled.lastMinute)
    handled.isOnPage = stamp & 1 << 29 != 0
    return handled
  }
}
