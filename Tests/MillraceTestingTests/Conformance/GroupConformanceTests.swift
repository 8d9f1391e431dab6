// Tests the behaviour of consumer groups on every log: revocations, offsets and generations.

import KafkaClient
import MillraceRecords
import Testing

@Suite(.timeLimit(.minutes(15))) struct GroupConformanceTests {
  @Test(arguments: LogBackend.available)
  func `a successor starts at the committed offset`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    for number in 0..<10 { try await test.write(ProducerRecord(partition.topic, "\(number)")) }
    try await test.withMember(of: [partition.topic]) { member in
      #expect(member.assignment == [partition])
      #expect(try await member.reader.committed([partition], timeout: .seconds(30)).isEmpty)
      #expect(try await member.read(4, from: partition).map(\.text) == ["0", "1", "2", "3"])
      try await member.reader.commit([CommittedOffset(partition, offset: 3, metadata: "three")])
    }
    try await test.withMember(of: [partition.topic]) { member in
      let committed = try await member.reader.committed([partition], timeout: .seconds(30))
      #expect(committed == [CommittedOffset(partition, offset: 3, metadata: "three")])
      #expect(try await member.read(2, from: partition).map(\.offset) == [3, 4])
    }
  }

  @Test(arguments: LogBackend.available)
  func `partitions with the same number in all topics have one owner`(
    _ backend: LogBackend
  ) async throws {
    let test = try await LogUnderTest(backend)
    let topics = [try await test.topic("a", partitions: 3), try await test.topic("b", partitions: 3)]
    let all = Set(topics.flatMap { topic in (Int32(0)..<3).map { TopicPartition(topic: topic, partition: $0) } })
    try await test.withBoard(of: topics, members: 2) { board, readers in
      let shared = await board.wait { state in
        state.count == 2 && state.values.reduce(0) { $0 + $1.count } == all.count
      }
      #expect(shared.values.reduce(into: Set()) { $0.formUnion($1) } == all)
      #expect(shared.values.map(\.count).sorted() == [2, 4])
      for assignment in shared.values {
        let numbers = topics.map { topic in Set(assignment.filter { $0.topic == topic }.map(\.partition)) }
        #expect(Set(numbers).count == 1)
      }
      // The remaining member gets all partitions back.
      readers[0].shutDown()
      #expect(await board.wait { $0[0] == nil && $0[1] == all }[1] == all)
    }
  }

  @Test(arguments: LogBackend.available)
  func `a member without partitions receives an empty assignment`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic()
    try await test.withBoard(of: [topic], members: 2) { board, _ in
      let shared = await board.wait { $0.values.map(\.count).sorted() == [0, 1] }
      #expect(shared.count == 2)
    }
  }

  @Test(arguments: LogBackend.available)
  func `reads of a revoked partition return no records`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic(partitions: 2)
    let partitions = [Int32(0), 1].map { TopicPartition(topic: topic, partition: $0) }
    for text in ["a", "b"] {
      for partition in partitions { try await test.write(ProducerRecord(topic, text, partition: partition.partition)) }
    }
    try await test.withMember(of: [topic]) { first in
      for partition in partitions { _ = try await first.read(1, from: partition) }
      let waiting = first.partitions
      let second = Task { try await test.withMember(of: [topic]) { $0.assignment } }
      guard case .revoked(let revocation) = try await first.next() else {
        return #expect(Bool(false), "no revocation")
      }
      #expect(Set(revocation.partitions) == Set(partitions))
      #expect(!revocation.isLost)
      for partition in waiting { #expect(try await partition.nextBatch(upTo: 1).isEmpty) }
      revocation.complete()
      let rest = try await first.nextAssignment()
      #expect(rest.union(try await second.value) == Set(partitions))
    }
  }

  @Test(arguments: LogBackend.available)
  func `a member can commit during a revocation`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .handOverCommits)
    let topic = try await test.topic(partitions: 2)
    let partitions = [Int32(0), 1].map { TopicPartition(topic: topic, partition: $0) }
    try await test.withMember(of: [topic]) { first in
      let second = Task {
        try await test.withMember(of: [topic]) { member in
          let partition = try #require(member.assignment.first)
          return try await member.reader.committed([partition], timeout: .seconds(30)).map(\.offset)
        }
      }
      guard case .revoked(let revocation) = try await first.next() else {
        return #expect(Bool(false), "no revocation")
      }
      try await first.reader.commit(partitions.map { CommittedOffset($0, offset: 1) })
      revocation.complete()
      try await first.nextAssignment()
      #expect(try await second.value == [1])
    }
  }

  @Test(
    .enabled(if: LogBackend.realServers != nil, "no KAFKA_BOOTSTRAP_SERVERS"), arguments: [false, true], [false, true])
  func `a member that shuts down can commit for longer than its session`(
    isStatic: Bool, isRebalancing: Bool
  ) async throws {
    let test = try await LogUnderTest(.real)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    // The shortest that brokers allow.
    var options = LogReaderOptions(instance: isStatic ? "one" : nil)
    options.sessionTimeout = .seconds(6)
    try await test.withMember(of: [partition.topic], options: options) { member in
      let other = Task { if isRebalancing { try await test.withMember(of: [partition.topic]) { _ in } } }
      if !isRebalancing { member.reader.shutDown() }
      guard case .revoked(let revocation) = try await member.next() else {
        return #expect(Bool(false), "no revocation")
      }
      // Also if the group has revoked the partition before.
      member.reader.shutDown()
      let (clock, began) = (ContinuousClock(), ContinuousClock.now)
      var offset: Int64 = 0
      while began.duration(to: clock.now) < .seconds(8) {
        offset += 1
        try await member.reader.commit([CommittedOffset(partition, offset: offset)])
      }
      revocation.complete()
      while let event = await member.nextOrEnd() {
        if case .revoked(let rest) = event { rest.complete() }
      }
      try await other.value
    }
  }

  @Test(arguments: LogBackend.available)
  func `a waiting read ends if its task is cancelled or the reader shuts down`(
    _ backend: LogBackend
  ) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic()
    try await test.withMember(of: [topic]) { member in
      let partition = try #require(member.partitions.first)
      let cancelled = Task { try await partition.nextBatch(upTo: 1) }
      cancelled.cancel()
      #expect(try await cancelled.value.isEmpty)
      let waiting = Task { try await partition.nextBatch(upTo: 1) }
      member.reader.shutDown()
      #expect(try await waiting.value.isEmpty)
    }
  }

  @Test(arguments: LogBackend.available)
  func `a reader that leaves its loop does not block the shutdown`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic()
    let reader = try test.log.makeReader(group: "\(test.prefix).g", topics: [topic], options: LogReaderOptions())
    let running = Task { try await reader.run() }
    for await event in reader.events {
      if case .assigned = event { break }
    }
    reader.shutDown()
    try await running.value
    let partition = TopicPartition(topic: topic, partition: 0)
    let error = await kafkaError { try await reader.commit([CommittedOffset(partition, offset: 1)]) }
    #expect(error?.code == .closed)
  }

  @Test(arguments: LogBackend.available)
  func `metadata longer than the broker allows is dropped from the commit`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    try await test.withMember(of: [partition.topic]) { member in
      let long = String(repeating: "x", count: CommittedOffset.maximumMetadataBytes + 1)
      try await member.reader.commit([CommittedOffset(partition, offset: 1, metadata: long)])
      let committed = try await member.reader.committed([partition], timeout: .seconds(30))
      #expect(committed == [CommittedOffset(partition, offset: 1)])
    }
  }

  @Test(arguments: LogBackend.available)
  func `a static member that returns causes no rebalance`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .staticMembership)
    let topic = try await test.topic(partitions: 2)
    let (begun, begin) = AsyncStream<Set<TopicPartition>>.makeStream()
    let (ended, end) = AsyncStream<Void>.makeStream()
    var assignments = begun.makeAsyncIterator()
    let dynamic = Task {
      try await test.withMember(of: [topic]) { member in
        // Each of the two members owns one partition.
        while member.assignment.count != 1 { try await member.nextAssignment() }
        let place = try await member.reader.groupMetadata()
        begin.yield(member.assignment)
        for await _ in ended { break }
        // The generation is unchanged, so there was no rebalance.
        #expect(try await member.reader.groupMetadata() == place)
      }
    }
    let options = LogReaderOptions(instance: "\(test.prefix)-0")
    let before = try await test.withMember(of: [topic], options: options) { member in
      while member.assignment.count != 1 { try await member.nextAssignment() }
      return member.assignment
    }
    let other = try #require(await assignments.next())
    #expect(other.isDisjoint(with: before))
    let after = try await test.withMember(of: [topic], options: options) { $0.assignment }
    #expect(after == before)
    end.yield()
    try await dynamic.value
  }

  @Test(arguments: LogBackend.available)
  func `the partitions of a static member that leaves go to the others`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .staticMembership)
    let topic = try await test.topic(partitions: 2)
    // Longer than the test may take. If the group kept the membership, the other member would wait too long.
    var options = LogReaderOptions(instance: "\(test.prefix)-0", leavesOnShutDown: true)
    options.sessionTimeout = .seconds(300)
    let (alone, join) = AsyncStream<Void>.makeStream()
    let staying = Task {
      defer { join.finish() }
      try await test.withMember(of: [topic]) { member in
        while member.assignment.count != 2 { try await member.nextAssignment() }
        join.yield()
        while member.assignment.count != 1 { try await member.nextAssignment() }
        while member.assignment.count != 2 { try await member.nextAssignment() }
      }
    }
    for await _ in alone { break }
    try await test.withMember(of: [topic], options: options) { member in
      while member.assignment.count != 1 { try await member.nextAssignment() }
    }
    try await staying.value
  }
}
