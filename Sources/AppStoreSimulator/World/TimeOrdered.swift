// A queue ordered by time. Elements that are due at the same time keep their order.

internal import AppStore
internal import HeapModule

struct TimeOrdered<Element: Sendable>: Sendable {
  private struct Entry: Comparable, Sendable {
    var due: Timestamp
    var order: UInt64
    var element: Element

    static func == (left: Self, right: Self) -> Bool { left.order == right.order }
    static func < (left: Self, right: Self) -> Bool { (left.due, left.order) < (right.due, right.order) }
  }

  private var heap = Heap<Entry>()
  private var order: UInt64 = 0

  var count: Int { heap.count }
  var nextDue: Timestamp? { heap.min?.due }

  mutating func add(_ element: Element, at due: Timestamp) {
    order += 1
    heap.insert(Entry(due: due, order: order, element: element))
  }

  /// Removes and returns the first element if it is due by `moment`.
  mutating func popDue(by moment: Timestamp) -> (due: Timestamp, element: Element)? {
    guard let first = heap.min, first.due <= moment else { return nil }
    return heap.popMin().map { ($0.due, $0.element) }
  }
}
