// A table of values by name, for millions of them: a value takes its name, its bytes and about 25 bytes more. A name that is
// a number, such as a transaction id, takes half of its bytes.
//
// A segment keeps its entries one after another in blocks of bytes, and finds them by their slots. An array of its own
// for each value would take 80 bytes more. Blocks do not move when the segment grows. There are 256 segments, so that
// compacting one is quick.

/// Values by name.
struct CompactTable: Sendable {
  private var segments = [CompactSegment](repeating: CompactSegment(), count: Self.segmentCount)

  static let segmentCount = 256

  /// The number of values.
  private(set) var count = 0

  /// The size of all segments, used and free, in bytes.
  var bytes: Int { segments.reduce(0) { $0 + $1.capacity } }

  subscript(name: String) -> [UInt8]? {
    get { find(Array(name.utf8)[...]) }
    set { set(Array(name.utf8)[...], newValue?[...]) }
  }

  func find(_ name: ArraySlice<UInt8>) -> [UInt8]? {
    Self.withKey(name) { key in
      let hash = Self.hash(key)
      return segments[Int(hash >> 56)].find(key, hash)
    }
  }

  /// Sets or removes the value of a name.
  /// - Returns: The index of the name's segment.
  @discardableResult
  mutating func set(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>?) -> Int {
    guard let value else { return Self.withKey(name) { remove($0) } }
    return value.withUnsafeBufferPointer { value in Self.withKey(name) { set($0, value) } }
  }

  private mutating func set(_ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Int {
    let hash = Self.hash(key)
    let segment = Int(hash >> 56)
    if segments[segment].set(key, hash, value) { count += 1 }
    return segment
  }

  private mutating func remove(_ key: UnsafeBufferPointer<UInt8>) -> Int {
    let hash = Self.hash(key)
    let segment = Int(hash >> 56)
    if segments[segment].remove(key, hash) { count -= 1 }
    return segment
  }

  /// Returns the index of the segment that has, or would have, the value of a name.
  func segment(of name: String) -> Int { Self.withKey(Array(name.utf8)[...]) { Int(Self.hash($0) >> 56) } }

  /// Calls a function with the keys and values of a segment, in no order. ``name(ofKey:)`` returns the name of a key.
  func forEach(in segment: Int, _ body: (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void) {
    segments[segment].forEach(body)
  }

  /// Calls a function with all keys and values, in no order.
  func forEach(_ body: (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void) {
    for segment in segments { segment.forEach(body) }
  }

  // MARK: - Names

  /// The first byte of a key that is a number. No text in UTF-8 begins with it, and a digest is longer than such a key.
  private static let numberMark: UInt8 = 0xFF

  /// Calls a function with the key of a name, which is the name or its number in binary.
  private static func withKey<Result>(
    _ name: ArraySlice<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    guard let number = name.withUnsafeBufferPointer({ number($0) }) else { return name.withUnsafeBufferPointer(body) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { key in
      let count = (64 - number.leadingZeroBitCount + 7) / 8
      key.initialize(repeating: numberMark)
      for index in 0..<count { key[1 + index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(count - 1 - index))) }
      return body(UnsafeBufferPointer(rebasing: key[..<(1 + count)]))
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

  /// Returns the text of a key.
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

/// One part of the table.
private struct CompactSegment: Sendable {
  private struct Slot: ProbedSlot {
    /// The address of the entry, plus one; 0 for a free slot.
    var place: UInt32 = 0
    /// The lower half of the name's hash.
    var half: UInt32 = 0

    var isFree: Bool { place == 0 }
    var hash: UInt64 { UInt64(half) << 32 }
  }

  private var slots = ProbedSlots<Slot>()
  /// Entries: the length of the name, the name, the room for the value, the number of unused bytes in it, the value.
  /// Lengths have seven bits in a byte. An entry is in one block; one that is larger than a block has a longer one, with
  /// nothing behind it.
  private var blocks: [[UInt8]] = []
  /// The bytes of all entries.
  private var used = 0
  /// The bytes of entries that were replaced or removed.
  private var garbage = 0

  /// An address has the index of the block above these bits, and the index in the block in them. So an entry begins
  /// before ``blockSize``, wherever it ends.
  private static let blockBits = 14
  private static let blockSize = 1 << blockBits

  var capacity: Int { slots.bytes + blocks.reduce(0) { $0 + $1.capacity + MemoryLayout<[UInt8]>.stride } }

  func forEach(_ body: (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Void) {
    slots.forEach { slot in
      let entry = entry(at: slot.place)
      body(blocks[entry.block][entry.name], blocks[entry.block][entry.value])
    }
  }

  func find(_ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> [UInt8]? {
    guard let place = place(of: name, hash), !slots[place].isFree else { return nil }
    let entry = entry(at: slots[place].place)
    return Array(blocks[entry.block][entry.value])
  }

  /// - Returns: Whether the name is new.
  mutating func set(
    _ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64, _ value: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let place = place(of: name, hash)
    if let place, !slots[place].isFree {
      let old = entry(at: slots[place].place)
      let room = old.all.upperBound - old.value.lowerBound
      if value.count <= room, room - value.count <= Int(UInt8.max) {
        let start = old.value.lowerBound
        blocks[old.block][start - 1] = UInt8(room - value.count)
        blocks[old.block].replaceSubrange(start..<start + value.count, with: value)
      } else {
        garbage += old.all.count
        slots[place].place = append(name, value)
        compactIfNeeded()
      }
      return false
    }
    let slot = Slot(place: append(name, value), half: UInt32(truncatingIfNeeded: hash))
    slots.insert(slot, at: place)
    return true
  }

  /// - Returns: Whether the name had a value.
  mutating func remove(_ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Bool {
    guard let place = place(of: name, hash), !slots[place].isFree else { return false }
    garbage += entry(at: slots[place].place).all.count
    slots.remove(at: place)
    compactIfNeeded()
    return true
  }

  /// Returns the place of an entry, or the free place where it belongs.
  private func place(of name: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Int? {
    let half = UInt32(truncatingIfNeeded: hash)
    return slots.place(of: UInt64(half) << 32) { $0.half == half && hasName(name, at: $0.place) }
  }

  // MARK: - Entries

  private func entry(at place: UInt32) -> (block: Int, all: Range<Int>, name: Range<Int>, value: Range<Int>) {
    let (block, start) = Self.address(place)
    return blocks[block].withUnsafeBufferPointer { bytes in
      let name = Self.part(of: bytes, at: start)
      let room = Self.part(of: bytes, at: name.upperBound)
      let unused = Int(bytes[room.lowerBound])
      return (block, start..<room.upperBound, name, room.lowerBound + 1..<room.upperBound - unused)
    }
  }

  private func hasName(_ name: UnsafeBufferPointer<UInt8>, at place: UInt32) -> Bool {
    let (block, start) = Self.address(place)
    return blocks[block].withUnsafeBufferPointer { bytes in
      let part = Self.part(of: bytes, at: start)
      return part.count == name.count && bytes[part].elementsEqual(name)
    }
  }

  private static func place(block: Int, start: Int) -> UInt32 {
    #if PLANTED_FAULTS
      if PlantedFault.longStates.isActive { return UInt32(block << blockBits | start) + 1 }
    #endif
    assert(start < blockSize, "the address \(start) would name another block")
    return UInt32(block << blockBits | start) + 1
  }

  private static func address(_ place: UInt32) -> (block: Int, start: Int) {
    let address = Int(place) - 1
    return (address >> blockBits, address & (blockSize - 1))
  }

  /// Returns where the bytes lie whose length begins at an index.
  private static func part(of bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Range<Int> {
    var (at, length, shift) = (index, 0, 0)
    while bytes[at] >= 0x80 {
      length |= Int(bytes[at] & 0x7F) << shift
      (at, shift) = (at + 1, shift + 7)
    }
    length |= Int(bytes[at]) << shift
    return at + 1..<at + 1 + length
  }

  private mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> UInt32 {
    // Some room, because a value that changes often differs by a few bytes in length. A short one hardly does.
    let unused = value.count < 16 ? 0 : 15 - value.count % 16
    let room = 1 + value.count + unused
    let count = Self.size(ofLength: name.count) + name.count + Self.size(ofLength: room) + room
    let last = block(for: count)
    let start = blocks[last].count
    // One append, because each one checks twice whether its array is shared.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { entry in
      entry.initialize(repeating: 0)
      var end = Self.write(length: name.count, to: entry, at: 0)
      end = entry[end...].update(fromContentsOf: name)
      end = Self.write(length: room, to: entry, at: end)
      entry[end] = UInt8(unused)
      _ = entry[(end + 1)...].update(fromContentsOf: value)
      blocks[last].append(contentsOf: UnsafeBufferPointer(entry))
    }
    used += count
    return Self.place(block: last, start: start)
  }

  /// The bytes that a length takes.
  private static func size(ofLength length: Int) -> Int { max(1, (Int.bitWidth - length.leadingZeroBitCount + 6) / 7) }

  /// Writes a length with seven bits in a byte.
  /// - Returns: The index after it.
  private static func write(length: Int, to bytes: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
    var (rest, at) = (length, start)
    while rest >= 0x80 {
      bytes[at] = UInt8(truncatingIfNeeded: rest) | 0x80
      (rest, at) = (rest >> 7, at + 1)
    }
    bytes[at] = UInt8(rest)
    return at + 1
  }

  /// The bytes by which the last block grows.
  private var step: Int { min(Self.blockSize / 4, used / 8) }

  /// Returns the index of the last block, which has room for an entry.
  private mutating func block(for count: Int) -> Int {
    if let last = blocks.last {
      let needed = last.count + count
      // The capacity of a block does not count: the allocator rounds it up, and a long block may have room to spare.
      #if PLANTED_FAULTS
        if PlantedFault.longStates.isActive { if needed <= last.capacity { return blocks.count - 1 } }
      #endif
      if needed <= Self.blockSize {
        // The last block grows in steps, so that little of it is unused. Appending alone would double it.
        if needed > last.capacity {
          blocks[blocks.count - 1].reserveCapacity(min(Self.blockSize, needed + step))
        }
        return blocks.count - 1
      }
    }
    var block: [UInt8] = []
    block.reserveCapacity(max(count, step))
    blocks.append(block)
    return blocks.count - 1
  }

  /// Copies the entries together when a fifth of the bytes is garbage.
  private mutating func compactIfNeeded() {
    guard garbage > 1_024, garbage * 5 > used else { return }
    let old = blocks
    (blocks, used, garbage) = ([], 0, 0)
    for index in slots.places where !slots[index].isFree {
      let (block, start) = Self.address(slots[index].place)
      old[block].withUnsafeBufferPointer { bytes in
        let name = Self.part(of: bytes, at: start)
        let all = start..<Self.part(of: bytes, at: name.upperBound).upperBound
        let last = self.block(for: all.count)
        slots[index].place = Self.place(block: last, start: blocks[last].count)
        blocks[last].append(contentsOf: UnsafeBufferPointer(rebasing: bytes[all]))
        used += all.count
      }
    }
  }
}
