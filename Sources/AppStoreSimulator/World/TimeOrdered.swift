// A heap ordered by time. Elements that are due at the same time keep their order.

internal import AppStore

struct TimeOrdered<Element: Sendable>: Sendable {
  private struct Entry: Sendable {
    var due: Timestamp
    var order: UInt64
    var element: Element

    func precedes(_ other: Entry) -> Bool { (due, order) < (other.due, other.order) }
  }

  private var heap: [Entry] = []
  private var order: UInt64 = 0

  var count: Int { heap.count }
  var nextDue: Timestamp? { heap.first?.due }

  mutating func add(_ element: Element, at due: Timestamp) {
    order += 1
    heap.append(Entry(due: due, order: order, element: element))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].precedes(heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Removes and returns the first element if it is due by `moment`.
  mutating func popDue(by moment: Timestamp) -> (due: Timestamp, element: Element)? {
    guard let first = heap.first, first.due <= moment else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      sink()
    }
    return (first.due, first.element)
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].precedes(heap[least]) { least = child }
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
