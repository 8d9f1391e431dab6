// A group member on the in-memory log.

internal import KafkaClient
internal import MillraceRecords

final class InMemoryReader: LogReader {
  private let host: BrokerHost
  private let id: ReaderID
  private let process: ProcessID
  private let group: String

  init(host: BrokerHost, process: ProcessID, group: String, topics: Set<String>, options: LogReaderOptions) {
    self.host = host
    self.process = process
    self.group = group
    id = host.update { broker, _ in
      let id = ReaderID(number: Int(broker.nextSerial()))
      var reader = ReaderState(group: group, topics: topics, options: options, process: process)
      reader.isFinished = broker.processes[process]?.isDead ?? false
      broker.readers[id] = reader
      return id
    }
  }

  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { Events(reader: self) }

  func run() async throws(KafkaError) {
    let id = id
    host.update { broker, now in broker.join(id, now: now) }
    await withTaskCancellationHandler {
      // Leaving waits until the revocation is completed, even if the task is cancelled.
      await host.certainAnswer { broker, _ in
        broker.readers[id]?.isFinished == false ? .after(.reader(id)) : .now(())
      }
    } onCancel: {
      shutDown()
    }
    let failure = host.update { broker, _ in broker.readers[id]?.failure }
    if let failure { throw failure }
  }

  func shutDown() {
    let id = id
    host.update { broker, now in broker.shutDown(id, now: now) }
  }

  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) {
    guard !offsets.isEmpty else { return }
    let (id, process, group) = (self.id, self.process, self.group)
    let operation = "commit offsets of \(group)"
    try await host.request(.commitOffsets, topic: offsets.first?.partition.topic, of: process, operation) {
      broker, _ throws(KafkaError) in
      guard let reader = broker.readers[id], !reader.isFinished else { throw .closed(operation) }
      guard let membership = reader.membership else {
        throw KafkaError(code: .unknownMember, operation: operation, reason: "the group has removed the member")
      }
      if let objection = broker.groups[group]?.objection(
        to: membership.member, generation: membership.generation, operation)
      {
        throw objection
      }
      broker.groups[group]?.commit(offsets)
      broker.changes.insert(.group(group))
    }
  }

  func committed(
    _ partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [CommittedOffset] {
    let (process, group) = (self.process, self.group)
    let operation = "read committed offsets of \(group)"
    try await host.request(.committed, topic: partitions.first?.topic, of: process, operation) { _, _ in }
    let find = {
      @Sendable (broker: inout InMemoryBroker, _: Duration) throws(KafkaError) -> Answer<[CommittedOffset]> in
      if let wait = try broker.obstacle(for: process, operation) { return .after(wait) }
      guard let state = broker.groups[group] else { return .now([]) }
      guard partitions.allSatisfy({ state.isStable($0) }) else { return .after(.group(group)) }
      return .now(partitions.compactMap { state.committed[$0] })
    }
    return try await host.limited(to: timeout, operation, find)
  }

  func groupMetadata() async throws(KafkaError) -> GroupMetadata {
    let id = id
    let operation = "read the metadata of \(group)"
    return try host.update { broker, _ throws(KafkaError) in
      guard let reader = broker.readers[id], !reader.isFinished else { throw .closed(operation) }
      // A removed member gets metadata that every request rejects.
      let none = Membership(group: reader.group, generation: -1, member: "")
      return (reader.membership ?? none).metadata
    }
  }

  func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder {
    let (id, process, group) = (self.id, self.process, self.group)
    let operation = "describe the group \(group)"
    try await host.request(.describeGroup, topic: nil, of: process, operation) { _, _ in }
    return try await host.limited(to: timeout, operation) { broker, _ throws(KafkaError) in
      if let wait = try broker.obstacle(for: process, operation) { return .after(wait) }
      guard let reader = broker.readers[id] else { throw .closed(operation) }
      let members = (broker.groups[group]?.members ?? [:]).map { name, member in
        GroupMember(id: name, instance: member.instance, host: "memory")
      }
      return .now(
        InstanceHolder(of: reader.options.instance, among: members, askedBy: Set([reader.lastMember].compactMap { $0 }))
      )
    }
  }

  var sessionTimeout: Duration {
    let id = id
    return host.update { broker, _ in broker.readers[id]?.options.sessionTimeout ?? broker.limits.sessionTimeout }
  }

  // MARK: - Events

  fileprivate func nextEvent() async -> LogReaderEvent? {
    let (id, process) = (self.id, self.process)
    let next: ReaderState.Event?? = await host.answer { broker, _ in
      guard let reader = broker.readers[id] else { return .now(nil) }
      if broker.processes[process]?.isPaused == true { return .after(.process(process)) }
      if broker.processes[process]?.isDead == true { return .now(nil) }
      if !reader.events.isEmpty { return .now(broker.readers[id]?.events.removeFirst()) }
      return reader.isFinished ? .now(nil) : .after(.reader(id))
    }
    switch next {
    case .assigned(let partitions, let assignment)??:
      return .assigned(
        partitions.map {
          InMemoryPartition(host: host, reader: id, process: process, partition: $0, assignment: assignment)
        })
    case .revoked(let partitions, let membership)??:
      let isLost = host.update { broker, _ in
        // Checked when the event is read, because partitions that were revoked in time may have been reassigned since.
        guard let membership else { return true }
        return broker.groups[membership.group]?.members[membership.member] == nil
      }
      return .revoked(revocation(of: partitions, isLost: isLost))
    case nil, .some(nil): return nil
    }
  }

  private func revocation(of partitions: [TopicPartition], isLost: Bool) -> PartitionRevocation {
    PartitionRevocation(partitions, isLost: isLost) { [host, id] in
      host.update { broker, now in broker.completeRevocation(id, now: now) }
    }
  }

  fileprivate func eventLoopLeft() {
    let id = id
    host.update { broker, now in broker.abandonEvents(of: id, now: now) }
  }

  private struct Events: AsyncSequence, Sendable {
    let reader: InMemoryReader
    func makeAsyncIterator() -> Iterator { Iterator(place: Place(reader: reader)) }

    struct Iterator: AsyncIteratorProtocol {
      let place: Place
      func next() async -> LogReaderEvent? { await place.reader.nextEvent() }
    }

    /// Lives as long as the loop. When the loop ends, pending events are dropped and their partitions handed over.
    final class Place: Sendable {
      let reader: InMemoryReader
      init(reader: InMemoryReader) { self.reader = reader }
      deinit { reader.eventLoopLeft() }
    }
  }
}

/// An assigned partition.
struct InMemoryPartition: LogPartition {
  let host: BrokerHost
  let reader: ReaderID
  let process: ProcessID
  let partition: TopicPartition
  let assignment: UInt64

  func nextPage(upTo limit: Int) async throws(KafkaError) -> LogPage? {
    await host.delay()
    guard !Task.isCancelled else { return nil }
    return try await host.answer { broker, _ throws(KafkaError) -> Answer<LogPage?> in
      if broker.processes[process]?.isPaused == true { return .after(.process(process)) }
      if broker.processes[process]?.isDead == true { return .now(nil) }
      if let fault = broker.takeFault(.read, topic: partition.topic, of: process) { throw fault.error }
      return try broker.read(partition, assignment: assignment, by: reader, limit: max(1, limit))
    } ?? nil
  }
}
