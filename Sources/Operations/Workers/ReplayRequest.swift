// Which records are to be sent again. Pure.

/// Records of one partition, sent to a worker again.
public struct ReplayRequest: Sendable, Hashable {
  /// The topic, by its name in Kafka.
  public var topic: String
  /// The partition.
  public var partition: Int32
  /// The first offset.
  public var from: Int64
  /// The offset behind the last.
  public var to: Int64
  /// Why handlers are to run again for what is done; nil: what is done stays done.
  public var reapply: String?

  /// Records `from..<to` of a partition.
  public init(topic: String, partition: Int32, from: Int64, to: Int64, reapply: String? = nil) {
    self.topic = topic
    self.partition = partition
    self.from = from
    self.to = to
    self.reapply = reapply
  }

  /// Holds the request against what there is.
  ///
  /// - Parameters:
  ///   - partitions: how many the topic has; nil where it does not exist.
  ///   - lanes: how many the worker's topics have.
  ///   - range: what the partition holds.
  func check(partitions: Int?, lanes: Int, holding range: Range<Int64>) throws(OperationError) {
    guard let partitions else {
      throw OperationError(
        .usage, "no such topic in the cluster", at: topic,
        remedy: "check --topic; it is the name in Kafka, prefix included")
    }
    guard partitions == lanes else {
      throw OperationError(
        .usage, "\(partitions) partitions where the worker has \(lanes) lanes", at: topic,
        remedy: "replay topics of one partition count alone: a lane sends what its own partition holds")
    }
    guard (0..<partitions).contains(Int(partition)) else {
      throw OperationError(
        .usage, "the topic has partitions 0 to \(partitions - 1)", at: "--partition", remedy: "name one of them")
    }
    guard from < to else {
      throw OperationError(
        .usage, "nothing between \(from) and \(to)", at: "--from, --to", remedy: "--to is the offset behind the last")
    }
    guard range.lowerBound <= from, to <= range.upperBound else {
      let held =
        range.isEmpty
        ? "the partition holds no record"
        : "the partition holds \(range.lowerBound) to "
          + "\(range.upperBound - 1)"
      throw OperationError(
        .usage, held, at: "--from, --to",
        remedy: range.isEmpty ? "check --partition" : "stay within --from \(range.lowerBound) --to \(range.upperBound)")
    }
  }
}
