// A dictionary that forgets its oldest entry instead of growing without end.

/// The newest values by key, at most `capacity` of them.
struct BoundedMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let capacity: Int
  private var values: [Key: Value] = [:]
  /// Keys in the order they came first; a ring once it is full.
  private var order: [Key] = []
  private var oldest = 0

  /// Room for so many values, at least one.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  var count: Int { values.count }

  /// Setting nil is not for forgetting: it does nothing.
  subscript(key: Key) -> Value? {
    get { values[key] }
    set {
      guard let newValue else { return }
      guard values.updateValue(newValue, forKey: key) == nil else { return }
      guard order.count == capacity else { return order.append(key) }
      values[order[oldest]] = nil
      order[oldest] = key
      oldest = (oldest + 1) % capacity
    }
  }
}
