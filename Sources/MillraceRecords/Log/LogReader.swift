// The members of a consumer group, independent of the kind of log.

public import KafkaClient

/// A change of a reader's assignment. The reader of the events must handle every one.
public enum LogReaderEvent: Sendable {
  /// The partitions that the reader owns from now on; may be empty. Each starts at its committed offset.
  case assigned([any LogPartition])
  /// Partitions to hand over. The group waits for ``Revocation/complete()``.
  case revoked(Revocation)
}

/// Reads records as a member of a group.
public protocol LogReader: Sendable {
  /// The changes of the assignment, in order, for one loop. The sequence ends when the reader closes. Leaving the loop
  /// early completes the revocations that it did not receive.
  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { get }

  /// Joins the group and serves it until ``shutDown()`` was called and the reader has left the group. Cancelling the
  /// task also leaves the group.
  /// - Throws: ``KafkaError`` that ended the client.
  func run() async throws(KafkaError)

  /// The time since ``run()`` last served the group; nil if it does not run or the time is unknown.
  var sinceLastTurn: Duration? { get }

  /// Leaves the group, after revoking the assignment through ``events``.
  func shutDown()

  /// Commits offsets and returns once the group has stored them.
  /// - Throws: ``KafkaError``. The commit is refused once the group has a generation without this member. Without
  ///   ``LogCapabilities/handOverCommits`` it is refused as soon as another member joins.
  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError)

  /// Returns the committed offsets; partitions without one are absent. The offsets are final: the call waits for
  /// pending transactions that commit offsets of these partitions (KIP-447).
  func committed(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> [CommittedOffset]

  /// Returns the metadata with which a transaction commits offsets for this member. Call it again after each
  /// assignment: the log refuses the metadata of an old generation.
  func groupMetadata() async throws(KafkaError) -> GroupMetadata

  /// Returns which client is the static member with this reader's name (``LogReaderOptions/instance``).
  ///
  /// A process that was paused may have been replaced by another process with its name. It must ask before it joins
  /// again, because joining would fence its replacement.
  /// - Throws: ``KafkaError`` if the group did not answer.
  func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder
}

extension LogReader {
  /// Unknown.
  public var sinceLastTurn: Duration? { nil }

  /// The reader itself: in a log without static members no other client can have the name.
  public func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder { .thisReader }
}

/// The client that is the static member with a name.
public enum InstanceHolder: Sendable, Hashable {
  /// The reader that asks; it is still a member.
  case thisReader
  /// No client: the session has ended, and no other client uses the name.
  case nobody
  /// Another client, with its address if the log knows it.
  case another(host: String)

  /// Finds the member with the name `instance` among a group's members.
  /// - Parameter memberID: The member id of the reader that asks; nil if it never was a member.
  public init(of instance: String?, among members: [GroupMember], askedBy memberID: String?) {
    guard let instance, let holder = members.first(where: { $0.instance == instance }) else {
      self = .nobody
      return
    }
    // A reader that never was a member finds its predecessor, which it is meant to replace.
    guard let memberID, holder.id != memberID else {
      self = .thisReader
      return
    }
    self = .another(host: holder.host)
  }
}

/// One assigned partition. Its records are pulled, which provides back-pressure.
public protocol LogPartition: Sendable {
  /// The partition.
  var partition: TopicPartition { get }

  /// The end of the partition when the reader last reached it, after transaction markers and aborted records, which no
  /// batch contains. nil before that.
  var end: Int64? { get }

  /// Returns the next committed records in order: at least one and at most `limit`. It does not wait for a full batch.
  /// Make one call at a time.
  ///
  /// An empty batch means that the partition was revoked, the reader closed, or the task was cancelled. The next owner
  /// reads the records that were fetched and not returned.
  /// - Throws: ``KafkaError`` if the partition cannot be read.
  func nextBatch(upTo limit: Int) async throws(KafkaError) -> [ConsumerRecord]
}
