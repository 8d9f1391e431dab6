// A dictionary with a bounded size that drops its oldest entry when full.

/// The newest values by key; at most `capacity`.
struct BoundedMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let capacity: Int
  private var values: [Key: Value] = [:]
  /// Keys in order of insertion; a ring buffer once it is full.
  private var order: [Key] = []
  private var oldest = 0

  /// Creates a memory for `capacity` values; at least one.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  var count: Int { values.count }

  /// Setting nil does nothing; it does not remove the value.
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
