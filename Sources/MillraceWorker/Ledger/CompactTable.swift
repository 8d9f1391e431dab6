// A table of values by name, for millions of them: a value takes its name, its bytes and about 25 bytes more. A name that is
// a number, such as a transaction id, takes half of its bytes.
//
// A segment keeps its entries one after another in one array of bytes, and finds them by open addressing. An array of
// its own for each value would take 80 bytes more. There are 256 segments, so that growing or compacting one is quick.

/// Values by name.
struct CompactTable: Sendable {
  private var segments = [CompactSegment](repeating: CompactSegment(), count: Self.segmentCount)

  static let segmentCount = 256

  /// The number of values.
  private(set) var count = 0

  /// The size of all segments, used and free, in bytes.
  var bytes: Int { segments.reduce(0) { $0 + $1.capacity } }

  subscript(name: String) -> [UInt8]? {
    get {
      Self.withKey(name) { key in
        let hash = Self.hash(key)
        return segments[Int(hash >> 56)].find(key, hash)
      }
    }
    set { set(name, newValue) }
  }

  /// Sets or removes the value of a name.
  /// - Returns: The index of the name's segment.
  @discardableResult
  mutating func set(_ name: String, _ value: [UInt8]?) -> Int {
    Self.withKey(name) { key in
      let hash = Self.hash(key)
      let segment = Int(hash >> 56)
      if let value {
        if segments[segment].set(key, hash, value) { count += 1 }
      } else if segments[segment].remove(key, hash) {
        count -= 1
      }
      return segment
    }
  }

  /// Returns the index of the segment that has, or would have, the value of a name.
  func segment(of name: String) -> Int { Self.withKey(name) { Int(Self.hash($0) >> 56) } }

  /// Calls a function with the keys and values of a segment, in no order. ``name(ofKey:)`` returns the name of a key.
  func forEach(in segment: Int, _ body: (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void) {
    segments[segment].forEach(body)
  }

  // MARK: - Names

  /// The first byte of a key that is a number. No text in UTF-8 begins with it.
  private static let numberMark: UInt8 = 0xFF

  /// Calls a function with the key of a name: its text, or the bytes of the number that it is.
  private static func withKey<Result>(_ name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var name = name
    return name.withUTF8 { text in
      guard let number = number(text) else { return body(text) }
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { key in
        let count = (64 - number.leadingZeroBitCount + 7) / 8
        key.initialize(repeating: numberMark)
        for index in 0..<count { key[1 + index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(count - 1 - index))) }
        return body(UnsafeBufferPointer(rebasing: key[..<(1 + count)]))
      }
    }
  }

  /// Returns a number that has exactly this text; nil for other texts.
  private static func number(_ text: UnsafeBufferPointer<UInt8>) -> UInt64? {
    // A number of 19 digits fits. One of fewer than four digits is shorter as text.
    guard (4...19).contains(text.count), text[0] != UInt8(ascii: "0") else { return nil }
    var number: UInt64 = 0
    for byte in text {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
    }
    return number
  }

  static func name(ofKey key: ArraySlice<UInt8>) -> String {
    guard key.first == numberMark else { return String(decoding: key, as: UTF8.self) }
    return String(key.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(name))
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// One part of the table: open addressing with linear probing, without tombstones.
private struct CompactSegment: Sendable {
  private struct Slot: Sendable {
    /// The index of the entry, plus one; 0 for a free slot.
    var place: UInt32 = 0
    /// The lower half of the name's hash.
    var hash: UInt32 = 0
  }

  private var slots: [Slot] = []
  /// Entries: the length of the name, the name, the room for the value, the number of unused bytes in it, the value.
  /// Lengths have seven bits in a byte.
  private var entries: [UInt8] = []
  private var count = 0
  /// The bytes of entries that were replaced or removed.
  private var garbage = 0

  var capacity: Int { slots.capacity * MemoryLayout<Slot>.stride + entries.capacity }

  func forEach(_ body: (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Void) {
    for slot in slots where slot.place != 0 {
      let entry = entry(at: slot.place)
      body(entries[entry.name], entries[entry.value])
    }
  }

  func find(_ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> [UInt8]? {
    guard let slot = slot(of: name, hash) else { return nil }
    return Array(entries[entry(at: slots[slot].place).value])
  }

  /// - Returns: Whether the name is new.
  mutating func set(_ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64, _ value: [UInt8]) -> Bool {
    if let slot = slot(of: name, hash) {
      let old = entry(at: slots[slot].place)
      let room = old.all.upperBound - old.value.lowerBound
      if value.count <= room, room - value.count <= Int(UInt8.max) {
        entries[old.value.lowerBound - 1] = UInt8(room - value.count)
        entries.replaceSubrange(old.value.lowerBound..<old.value.lowerBound + value.count, with: value)
      } else {
        garbage += old.all.count
        slots[slot].place = append(name, value)
        compactIfNeeded()
      }
      return false
    }
    if (count + 1) * 8 > slots.count * 7 { resize(to: slots.count + max(8, slots.count / 8)) }
    put(Slot(place: append(name, value), hash: UInt32(truncatingIfNeeded: hash)))
    count += 1
    return true
  }

  /// - Returns: Whether the name had a value.
  mutating func remove(_ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Bool {
    guard var hole = slot(of: name, hash) else { return false }
    garbage += entry(at: slots[hole].place).all.count
    // Entries that were displaced past the hole move back into it, so that no search ends at the hole too early.
    var index = hole
    while true {
      index = index + 1 == slots.count ? 0 : index + 1
      guard slots[index].place != 0 else { break }
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
    compactIfNeeded()
    return true
  }

  // MARK: - Slots

  private func slot(of name: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Int? {
    guard !slots.isEmpty else { return nil }
    let hash = UInt32(truncatingIfNeeded: hash)
    var index = home(of: hash)
    // The loop ends, because an eighth of the slots is free.
    while slots[index].place != 0 {
      if slots[index].hash == hash, entries[entry(at: slots[index].place).name].elementsEqual(name) { return index }
      index = index + 1 == slots.count ? 0 : index + 1
    }
    return nil
  }

  private func home(of hash: UInt32) -> Int { Int((UInt64(hash) * UInt64(slots.count)) >> 32) }

  private mutating func put(_ slot: Slot) {
    var index = home(of: slot.hash)
    while slots[index].place != 0 { index = index + 1 == slots.count ? 0 : index + 1 }
    slots[index] = slot
  }

  private mutating func resize(to capacity: Int) {
    let old = slots
    slots = [Slot](repeating: Slot(), count: capacity)
    for slot in old where slot.place != 0 { put(slot) }
  }

  // MARK: - Entries

  private func entry(at place: UInt32) -> (all: Range<Int>, name: Range<Int>, value: Range<Int>) {
    let start = Int(place) - 1
    let name = part(at: start)
    let room = part(at: name.upperBound)
    let unused = Int(entries[room.lowerBound])
    return (start..<room.upperBound, name, room.lowerBound + 1..<room.upperBound - unused)
  }

  /// Returns where the bytes lie whose length begins at an index.
  private func part(at index: Int) -> Range<Int> {
    var (at, length, shift) = (index, 0, 0)
    while entries[at] >= 0x80 {
      length |= Int(entries[at] & 0x7F) << shift
      (at, shift) = (at + 1, shift + 7)
    }
    length |= Int(entries[at]) << shift
    return at + 1..<at + 1 + length
  }

  private mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: [UInt8]) -> UInt32 {
    let needed = entries.count + name.count + value.count + 32
    // Appending alone would double the capacity, and half of it would stay empty.
    if needed > entries.capacity { entries.reserveCapacity(needed + needed / 8) }
    let place = UInt32(entries.count + 1)
    append(length: name.count)
    entries.append(contentsOf: name)
    // Some room, because a value that changes often differs by a few bytes in length.
    let unused = value.count < 64 ? 3 - value.count % 4 : 15 - value.count % 16
    append(length: 1 + value.count + unused)
    entries.append(UInt8(unused))
    entries += value
    entries.append(contentsOf: repeatElement(0, count: unused))
    return place
  }

  private mutating func append(length: Int) {
    var rest = length
    while rest >= 0x80 {
      entries.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    entries.append(UInt8(rest))
  }

  /// Copies the entries together when a fifth of the bytes is garbage.
  private mutating func compactIfNeeded() {
    guard garbage > 1_024, garbage * 5 > entries.count else { return }
    var compact: [UInt8] = []
    compact.reserveCapacity(entries.count - garbage + (entries.count - garbage) / 8)
    for index in slots.indices where slots[index].place != 0 {
      let entry = entry(at: slots[index].place).all
      slots[index].place = UInt32(compact.count + 1)
      compact += entries[entry]
    }
    entries = compact
    garbage = 0
  }
}
