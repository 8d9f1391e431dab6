internal import Synchronization

/// What happens to a consumer's assignment. Whoever reads the events must handle every one.
public enum ConsumerEvent: Sendable {
  /// Partitions this consumer reads from now on, each from its committed or requested offset.
  case assigned([PartitionQueue])
  /// Partitions to hand over. The group waits until ``Revocation/complete()`` is called.
  case revoked(Revocation)
}

/// Partitions on their way to another member. Finish what is in flight, commit, then call ``complete()``: the
/// successor starts at what was committed by then.
public final class Revocation: Sendable {
  /// The partitions to hand over.
  public let partitions: [TopicPartition]
  /// True where the group has given them away already: committing would be refused, and nothing may be written on
  /// their behalf any more.
  public let isLost: Bool

  private let completion: Mutex<(@Sendable () -> Void)?>

  /// Makes a revocation, for logs that are not Kafka.
  /// - Parameter completion: called once, at the latest when the revocation is forgotten.
  public init(_ partitions: [TopicPartition], isLost: Bool, completion: @escaping @Sendable () -> Void) {
    self.partitions = partitions
    self.isLost = isLost
    self.completion = Mutex(completion)
  }

  /// Lets the group go on. Only the first call counts.
  public func complete() {
    let completion = completion.withLock { completion in
      defer { completion = nil }
      return completion
    }
    completion?()
  }

  deinit { complete() }
}

/// Where a partition's reading starts.
public enum StartOffset: Sendable, Hashable {
  /// The oldest record there is.
  case earliest
  /// Behind the newest record there is.
  case latest
  /// This offset.
  case offset(Int64)
}

/// What a consumer reads.
public enum Subscription: Sendable {
  /// As a member of a group; partitions come and go with the members.
  case group(String, topics: [String])
  /// These partitions, whoever else reads them. Nothing is committed.
  case partitions([TopicPartition: StartOffset])
}
