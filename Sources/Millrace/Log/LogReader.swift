// A member of a consumer group, whatever the log.

public import Kafka

/// What happens to a reader's assignment. Whoever reads the events must handle every one.
public enum LogReaderEvent: Sendable {
  /// Partitions this reader has from now on; none is an assignment too. Each starts at its committed offset.
  case assigned([any LogPartition])
  /// Partitions to hand over. The group waits until ``Revocation/complete()`` is called.
  case revoked(Revocation)
}

/// Reads records as a member of a group.
public protocol LogReader: Sendable {
  /// What happens to the assignment, in order, for one loop; ends when the reader is closed. A loop that is left early
  /// completes the revocations it did not see.
  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { get }

  /// Joins the group and serves it until ``shutDown()`` was called and the group is left. Cancelling the task leaves the
  /// group too.
  /// - Throws: ``KafkaError`` that ended the client.
  func run() async throws(KafkaError)

  /// How long ago ``run()`` served the group last; nil where it does not run, or cannot tell.
  var sinceLastTurn: Duration? { get }

  /// Leaves the group: the assignment is revoked through ``events`` first.
  func shutDown()

  /// Commits offsets; returns when the group has them.
  /// - Throws: ``KafkaError``; refused once the group has moved on without this member, and, where
  ///   ``LogCapabilities/handOverCommits`` is missing, as soon as another one joins.
  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError)

  /// What the group has committed; partitions without a commit are absent. Waits for transactions that are about to
  /// commit offsets of these partitions to be decided (KIP-447), so that what is returned is final.
  func committed(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> [CommittedOffset]

  /// What a transaction needs in order to commit offsets for this member. Ask again after each assignment: the log
  /// refuses the metadata of a generation that has passed.
  func groupMetadata() async throws(KafkaError) -> GroupMetadata
}

extension LogReader {
  /// Cannot tell.
  public var sinceLastTurn: Duration? { nil }
}

/// One assigned partition. Records are taken from it; not taking them is its back-pressure.
public protocol LogPartition: Sendable {
  /// Which one.
  var partition: TopicPartition { get }

  /// Where the partition ended when its reader last came there: behind ends of transactions and aborted records too,
  /// which no batch tells of. nil before that.
  var end: Int64? { get }

  /// The next committed records in order: at least one and at most `limit`, without waiting for more than there are. One
  /// call at a time.
  ///
  /// An empty batch means that the partition was revoked, the reader closed, or the task cancelled; what was fetched and
  /// not taken is left to the successor.
  /// - Throws: ``KafkaError`` where the partition cannot be read.
  func nextBatch(upTo limit: Int) async throws(KafkaError) -> [ConsumerRecord]
}
