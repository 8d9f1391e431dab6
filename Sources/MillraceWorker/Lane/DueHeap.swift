// A queue of records that wait for their due time.

internal import AppStore
internal import HeapModule

/// A bounded heap, ordered by due time.
///
/// A lane has one for each retry topic. In a single heap, records with a delay of hours would take the places that
/// records with a delay of seconds need. If the heap is full, the lane stops reading that topic. The topic is in the order
/// of due times, so unread records are not due before those in the heap.
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
  private var entries = Heap<Entry>()
  private var number: UInt64 = 0

  /// The total size of the elements, as given to ``insert(_:due:bytes:)``.
  private(set) var bytes = 0

  /// - Parameters:
  ///   - places: The maximum number of elements.
  ///   - bytes: The maximum number of bytes. A larger element is admitted if it is alone; otherwise it could never
  ///     leave its topic.
  init(places: Int, bytes: Int = .max) {
    self.places = max(1, places)
    maximumBytes = bytes
  }

  var count: Int { entries.count }
  /// The due time of the first element.
  var nextDue: Timestamp? { entries.min?.due }

  /// Whether an element of this size may be inserted.
  func hasRoom(for bytes: Int) -> Bool {
    entries.isEmpty || (entries.count < places && self.bytes <= maximumBytes - max(0, bytes))
  }

  /// Inserts an element. Elements with the same due time leave in the order of insertion.
  /// - Returns: False if there is no room; the element was not inserted.
  mutating func insert(_ element: Element, due: Timestamp, bytes: Int = 0) -> Bool {
    guard hasRoom(for: bytes) else { return false }
    number += 1
    entries.insert(Entry(due: due, number: number, bytes: max(0, bytes), element: element))
    self.bytes += max(0, bytes)
    return true
  }

  /// Returns the first element if it is due at `now`, without removing it.
  func firstDue(at now: Timestamp) -> Element? {
    guard let first = entries.min, first.due <= now else { return nil }
    return first.element
  }

  /// Removes and returns the first element if it is due at `now`, never earlier.
  mutating func popDue(at now: Timestamp) -> Element? {
    guard let due = nextDue, due <= now, let entry = entries.popMin() else { return nil }
    bytes -= entry.bytes
    return entry.element
  }
}
