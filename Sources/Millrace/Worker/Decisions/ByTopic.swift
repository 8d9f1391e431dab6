// What a lane knows of each topic it reads.

/// Values by topic. A lane reads a handful of topics: the right one is found sooner by looking at each than by hashing a
/// name, which is done several times for every record.
struct ByTopic<Value: Sendable>: Sendable {
  private(set) var topics: [String] = []
  private(set) var values: [Value] = []

  /// Values of these topics, in the order of their names.
  init(_ values: [String: Value] = [:]) {
    for (topic, value) in values.sorted(by: { $0.key < $1.key }) {
      topics.append(topic)
      self.values.append(value)
    }
  }

  /// The place of a topic; nil where it has none.
  func place(of topic: String) -> Int? { topics.firstIndex(of: topic) }

  /// The place of a topic, which gets `value` where it had none.
  mutating func place(of topic: String, default value: @autoclosure () -> Value) -> Int {
    if let place = place(of: topic) { return place }
    topics.append(topic)
    values.append(value())
    return topics.count - 1
  }

  /// The value at a place.
  subscript(place: Int) -> Value {
    _read { yield values[place] }
    _modify { yield &values[place] }
  }

  var dictionary: [String: Value] { Dictionary(zip(topics, values)) { first, _ in first } }
}

extension ByTopic: Equatable where Value: Equatable {}
extension ByTopic: Hashable where Value: Hashable {}
