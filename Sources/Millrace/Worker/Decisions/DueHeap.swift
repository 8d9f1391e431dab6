// What was read ahead and waits for its time.

internal import AppStore

/// A bounded heap by due time.
///
/// A lane has one for each retry tier, and one for timers: with one for all, a tier of hours would fill the places that
/// a tier of seconds needs. Full means: stop reading that source; its order is its due times, so nothing that was not
/// read can be due before what was.
struct DueHeap<Element: Sendable>: Sendable {
  private struct Entry: Comparable, Sendable {
    var due: Timestamp
    var number: UInt64
    var bytes: Int
    var element: Element

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    static func < (left: Self, right: Self) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }

  private let places: Int
  private let maximumBytes: Int
  private var entries = MinHeap<Entry>()
  private var number: UInt64 = 0

  /// Bytes of what waits, as told by ``insert(_:due:bytes:)``.
  private(set) var bytes = 0

  /// - Parameters:
  ///   - places: Most elements.
  ///   - bytes: Most bytes; one larger element alone is admitted, or it could never leave its topic.
  init(places: Int, bytes: Int = .max) {
    self.places = max(1, places)
    maximumBytes = bytes
  }

  var count: Int { entries.count }
  /// When the first is due.
  var nextDue: Timestamp? { entries.first?.due }

  /// Whether an element of that many bytes may come in.
  func hasRoom(for bytes: Int) -> Bool {
    entries.isEmpty || (entries.count < places && self.bytes <= maximumBytes - max(0, bytes))
  }

  /// Puts an element in; elements of one due time leave in the order they came.
  /// - Returns: false where there is no room; nothing changed then.
  mutating func insert(_ element: Element, due: Timestamp, bytes: Int = 0) -> Bool {
    guard hasRoom(for: bytes) else { return false }
    number += 1
    entries.insert(Entry(due: due, number: number, bytes: max(0, bytes), element: element))
    self.bytes += max(0, bytes)
    return true
  }

  /// The first element where it is due at `now`; it stays.
  func firstDue(at now: Timestamp) -> Element? {
    guard let first = entries.first, first.due <= now else { return nil }
    return first.element
  }

  /// Takes out the first element where it is due at `now`, never earlier.
  mutating func popDue(at now: Timestamp) -> Element? {
    guard let due = nextDue, due <= now, let entry = entries.popFirst() else { return nil }
    bytes -= entry.bytes
    return entry.element
  }
}
