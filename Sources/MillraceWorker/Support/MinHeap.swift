// A binary heap, used for due times and for the ready queue.

/// A heap with the smallest element first.
struct MinHeap<Element: Comparable & Sendable>: Sendable {
  private var elements: [Element] = []

  var count: Int { elements.count }
  var isEmpty: Bool { elements.isEmpty }
  var first: Element? { elements.first }

  init() {}

  /// Creates a heap of these elements.
  init(_ elements: [Element]) {
    self.elements = elements
    for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(index) }
  }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard elements[index] < elements[parent] else { return }
      elements.swapAt(index, parent)
      index = parent
    }
  }

  /// Removes and returns the smallest element.
  mutating func popFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    sink(0)
    return first
  }

  private mutating func sink(_ start: Int) {
    var index = start
    while true {
      var smallest = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < elements.count && elements[child] < elements[smallest] { smallest = child }
      guard smallest != index else { return }
      elements.swapAt(index, smallest)
      index = smallest
    }
  }

  /// All elements, in no particular order.
  var unordered: [Element] { elements }
}
