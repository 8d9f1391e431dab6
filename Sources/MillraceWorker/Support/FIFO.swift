// A queue that releases the memory of removed elements.

/// First in, first out.
struct FIFO<Element: Sendable>: Sendable {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var first: Element? { head < elements.count ? elements[head] : nil }
  var last: Element? { isEmpty ? nil : elements[elements.count - 1] }

  /// Returns the first elements.
  func first(_ count: Int) -> [Element] {
    elements[head...].prefix(max(0, count)).compactMap { $0 }
  }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count, let element = elements[head].take() else { return nil }
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head > 64, head > elements.count / 2 {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func popLast() -> Element? {
    guard let element = last else { return nil }
    elements.removeLast()
    return element
  }
}
