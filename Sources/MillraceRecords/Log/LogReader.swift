// The members of a consumer group, independent of the kind of log.

public import KafkaClient

/// A change of a reader's assignment. The reader of the events must handle every one.
public enum LogReaderEvent: Sendable {
  /// The partitions that the reader owns from now on; may be empty. Each starts at its committed offset.
  case assigned([any LogPartition])
  /// Partitions to hand over. The group waits for ``PartitionRevocation/complete()``.
  case revoked(PartitionRevocation)
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

  /// Returns which client is the static member with this reader's name (``LogReaderOptions/instance``). The reader may be
  /// closed.
  ///
  /// A process that was paused may have been replaced by another process with its name. It must ask before it joins
  /// again, because joining would fence its replacement.
  /// - Throws: ``KafkaError`` if the group did not answer.
  func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder

  /// The time after which the group removes a silent member.
  var sessionTimeout: Duration { get }
}

extension LogReader {
  /// Unknown.
  public var sinceLastTurn: Duration? { nil }

  /// The reader itself: in a log without static members no other client can have the name.
  public func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder { .thisReader }

  /// Kafka's default.
  public var sessionTimeout: Duration { .seconds(45) }
}

/// The client that is the static member with a name.
public enum InstanceHolder: Sendable, Hashable {
  /// The reader that asks.
  case thisReader
  /// No client: the session has ended, and no other client uses the name.
  case nobody
  /// Another member, with its address. It may belong to another process, or to one that has ended, or it may be a former
  /// member of this process: the group keeps a member for its session.
  case another(member: String, host: String)

  /// Finds the member with the name `instance` among a group's members.
  ///
  /// A reader never learns the id of a member whose JoinGroup was not answered. The client id does not tell either whose
  /// member it is: if another client takes over a name, brokers keep the client id and the address of its predecessor.
  /// - Parameter memberIDs: The member ids of the reader that asks; empty if it never was a member.
  public init(of instance: String?, among members: [GroupMember], askedBy memberIDs: Set<String>) {
    guard let instance, let holder = members.first(where: { $0.instance == instance }) else {
      self = .nobody
      return
    }
    self = memberIDs.contains(holder.id) ? .thisReader : .another(member: holder.id, host: holder.host)
  }
}

/// One assigned partition. Its records are pulled, which provides back-pressure.
public protocol LogPartition: Sendable {
  /// The partition.
  var partition: TopicPartition { get }

  /// Returns the next committed records in order, at most `limit`, or the end of the partition. It does not wait for a
  /// full page. Make one call at a time.
  ///
  /// Nil means that the partition was revoked, the reader closed, or the task was cancelled. The next owner reads the
  /// records that were fetched and not returned.
  /// - Throws: ``KafkaError`` if the partition cannot be read.
  func nextPage(upTo limit: Int) async throws(KafkaError) -> LogPage?
}

/// Records of a partition in order, perhaps with its end.
public struct LogPage: Sendable, Hashable {
  /// The records; may be empty if the page has an end.
  public var records: [ConsumerRecord]
  /// The offset at which the partition ends, if the reader has reached it with these records. Transaction markers and
  /// aborted records have offsets too, so it can lie after the last record.
  public var end: Int64?

  /// Creates a page.
  public init(records: [ConsumerRecord], end: Int64?) {
    self.records = records
    self.end = end
  }
}

extension LogPartition {
  /// Returns the next committed records: at least one and at most `limit`. An empty batch means that the partition was
  /// revoked, the reader closed, or the task was cancelled.
  /// - Throws: ``KafkaError`` if the partition cannot be read.
  public func nextBatch(upTo limit: Int) async throws(KafkaError) -> [ConsumerRecord] {
    while let page = try await nextPage(upTo: limit) {
      if !page.records.isEmpty { return page.records }
    }
    return []
  }
}
