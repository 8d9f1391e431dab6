// Kafka's range assignor: topics with equal partition counts have partition p at the same member. Lanes depend on this.

internal import KafkaClient

enum RangeAssignor {
  /// Returns the partitions of each member.
  ///
  /// - Parameters:
  ///   - subscriptions: The topics of each member.
  ///   - counts: The partition counts of existing topics.
  static func assign(
    _ subscriptions: [String: Set<String>], counts: [String: Int]
  ) -> [String: [TopicPartition]] {
    var assignment = subscriptions.mapValues { _ in [TopicPartition]() }
    for (topic, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
      let members = subscriptions.filter { $0.value.contains(topic) }.keys.sorted()
      guard !members.isEmpty else { continue }
      let (each, rest) = count.quotientAndRemainder(dividingBy: members.count)
      var next = 0
      for (index, member) in members.enumerated() {
        let share = each + (index < rest ? 1 : 0)
        assignment[member, default: []] += (next..<next + share).map {
          TopicPartition(topic: topic, partition: Int32(clamping: $0))
        }
        next += share
      }
    }
    return assignment
  }
}
