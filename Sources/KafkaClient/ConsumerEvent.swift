internal import Synchronization

/// A change of a consumer's assignment. The reader of the events must handle every one.
public enum ConsumerEvent: Sendable {
  /// The partitions that this consumer reads from now on, each from its committed or requested offset.
  case assigned([PartitionQueue])
  /// Partitions to hand over. The group waits for ``PartitionRevocation/complete()``.
  case revoked(PartitionRevocation)
}

/// Partitions to hand over to another member. Finish the records in flight, commit, then call ``complete()``. The next
/// owner starts at the offsets committed by then.
public final class PartitionRevocation: Sendable {
  /// The partitions to hand over.
  public let partitions: [TopicPartition]
  /// Whether the group has already reassigned the partitions. The group would refuse a commit, and nothing may be
  /// written for them.
  public let isLost: Bool

  private let completion: Mutex<(@Sendable () -> Void)?>

  /// Creates a revocation, for logs other than Kafka.
  /// - Parameter completion: Called once, at the latest when the revocation is deallocated.
  public init(_ partitions: [TopicPartition], isLost: Bool, completion: @escaping @Sendable () -> Void) {
    self.partitions = partitions
    self.isLost = isLost
    self.completion = Mutex(completion)
  }

  /// Completes the handover, so that the group can continue. Only the first call has an effect.
  public func complete() {
    let completion = completion.withLock { completion in
      defer { completion = nil }
      return completion
    }
    completion?()
  }

  deinit { complete() }
}

/// The offset at which reading a partition starts.
public enum StartOffset: Sendable, Hashable {
  /// The oldest record.
  case earliest
  /// After the newest record.
  case latest
  /// This offset.
  case offset(Int64)
}

/// The topics or partitions that a consumer reads.
public enum Subscription: Sendable {
  /// Topics, as a member of a group that assigns the partitions.
  case group(String, topics: [String])
  /// Fixed partitions, without a group. Nothing is committed.
  case partitions([TopicPartition: StartOffset])
}
