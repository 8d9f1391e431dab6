// A small map from topics to values.

/// Values by topic. A lane reads few topics, so a linear search is faster than hashing a name, and it runs several
/// times for every record.
struct ByTopic<Value: Sendable>: Sendable {
  private(set) var topics: [String] = []
  private(set) var values: [Value] = []

  /// Creates a map. Its values are in the order of their topics' names.
  init(_ values: [String: Value] = [:]) {
    for (topic, value) in values.sorted(by: { $0.key < $1.key }) {
      topics.append(topic)
      self.values.append(value)
    }
  }

  /// Returns the index of a topic, or nil if it has none.
  func place(of topic: String) -> Int? { topics.firstIndex(of: topic) }

  /// Returns the index of a topic. If the topic has none, it is added with `value`.
  mutating func place(of topic: String, default value: @autoclosure () -> Value) -> Int {
    if let place = place(of: topic) { return place }
    topics.append(topic)
    values.append(value())
    return topics.count - 1
  }

  /// The value at an index.
  subscript(place: Int) -> Value {
    _read { yield values[place] }
    _modify { yield &values[place] }
  }

  var dictionary: [String: Value] { Dictionary(zip(topics, values)) { first, _ in first } }
}

extension ByTopic: Equatable where Value: Equatable {}
extension ByTopic: Hashable where Value: Hashable {}
