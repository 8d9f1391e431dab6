// Tests logs with transactions: atomicity, isolation, committed offsets and fencing.

import KafkaClient
import MillraceRecords
import Testing

@Suite(.timeLimit(.minutes(15))) struct TransactionConformanceTests {
  private static let limit = Duration.seconds(30)

  @Test(arguments: LogBackend.available)
  func `records of a transaction appear together or never`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let topics = [try await test.topic("a"), try await test.topic("b")]
    try await test.withTransactions { writer in
      try await writer.begin()
      for topic in topics { _ = try await writer.send(ProducerRecord(topic, "lost")) }
      try await writer.abort(timeout: Self.limit)
      try await writer.begin()
      for topic in topics { _ = try await writer.send(ProducerRecord(topic, "kept")) }
      try await writer.commit(timeout: Self.limit)
    }
    for topic in topics {
      let found = try await test.scan(TopicPartition(topic: topic, partition: 0))
      #expect(found.texts == ["kept"])
      // The aborted record and two markers also occupy offsets.
      #expect(found.records.map(\.offset) == [2])
      // The commit returns before its marker is written to every partition.
      #expect([3, 4].contains(found.end))
    }
  }

  @Test(arguments: LogBackend.available)
  func `a reader that asks for more learns the end after the transaction marker`(
    _ backend: LogBackend
  ) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let topic = try await test.topic()
    try await test.withTransactions { writer in
      try await writer.begin()
      _ = try await writer.send(ProducerRecord(topic, "kept"))
      try await writer.commit(timeout: Self.limit)
    }
    try await test.withMember(of: [topic]) { member in
      let queue = try member.queue(TopicPartition(topic: topic, partition: 0))
      // The reader learns the end with the record or when it asks for more.
      var records: [ConsumerRecord] = []
      var end: Int64?
      while end != 2, let page = try await queue.nextPage(upTo: 1) {
        records += page.records
        end = page.end ?? end
      }
      #expect(records.map(\.text) == ["kept"] && end == 2)
      try await test.write(ProducerRecord(topic, "more"))
      #expect(try await queue.read(1).map(\.text) == ["more"])
    }
  }

  @Test(arguments: LogBackend.available)
  func `a reader waits at an open transaction and a scan reads past it after the abort`(
    _ backend: LogBackend
  ) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    try await test.withTransactions { writer in
      try await writer.begin()
      _ = try await writer.send(ProducerRecord(partition.topic, "open"))
      try await test.write(ProducerRecord(partition.topic, "behind"))
      // The high watermark includes records that a read_committed reader cannot see yet.
      let range = try await test.log.highWatermarks(of: [partition], timeout: Self.limit)
      #expect(range == [partition: 0..<2])
      try await test.withMember(of: [partition.topic]) { member in
        let queue = try member.queue(partition)
        async let scanned = test.scan(partition)
        async let read = queue.read(1)
        try await writer.abort(timeout: Self.limit)
        #expect(try await read.map(\.text) == ["behind"])
        // A scan that began before the abort ends at the watermark of that time, a later one after the marker.
        let scan = try await scanned
        #expect(scan.texts == ["behind"])
        #expect([2, 3].contains(scan.end))
      }
    }
  }

  @Test(arguments: LogBackend.available)
  func `offsets are committed with the transaction or not at all`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    try await test.withMember(of: [partition.topic]) { member in
      let group = try await member.reader.groupMetadata()
      try await test.withTransactions { writer in
        try await writer.begin()
        try await writer.sendOffsets([CommittedOffset(partition, offset: 5)], group: group, timeout: Self.limit)
        try await writer.abort(timeout: Self.limit)
        #expect(try await member.reader.committed([partition], timeout: Self.limit).isEmpty)
        try await writer.begin()
        try await writer.sendOffsets(
          [CommittedOffset(partition, offset: 7, metadata: "seven")], group: group, timeout: Self.limit)
        try await writer.commit(timeout: Self.limit)
      }
      #expect(
        try await member.reader.committed([partition], timeout: Self.limit)
          == [CommittedOffset(partition, offset: 7, metadata: "seven")])
    }
  }

  @Test(arguments: LogBackend.available)
  func `committed offsets are unknown while a transaction may change them`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    try await test.withMember(of: [partition.topic]) { member in
      let reader = member.reader
      try await reader.commit([CommittedOffset(partition, offset: 1)])
      let group = try await reader.groupMetadata()
      try await test.withTransactions { writer in
        try await writer.begin()
        try await writer.sendOffsets([CommittedOffset(partition, offset: 2)], group: group, timeout: Self.limit)
        async let answer = kafkaError { _ = try await reader.committed([partition], timeout: .seconds(2)) }
        await test.pass(.seconds(2))
        #expect(await answer?.isRetriable == true)
        try await writer.commit(timeout: Self.limit)
      }
      #expect(try await reader.committed([partition], timeout: Self.limit).map(\.offset) == [2])
    }
  }

  @Test(arguments: LogBackend.available)
  func `a newer instance of a transactional id fences the older one`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    let zombie = try test.log.makeTransactionalWriter(id: "\(test.prefix).writer", timeout: .seconds(60))
    let zombieRun = Task { try await zombie.run() }
    try await zombie.initialize(timeout: Self.limit)
    try await zombie.begin()
    _ = try await zombie.send(ProducerRecord(partition.topic, "zombie"))
    try await test.withTransactions { writer in
      try await writer.begin()
      _ = try await writer.send(ProducerRecord(partition.topic, "heir"))
      try await writer.commit(timeout: Self.limit)
    }
    let error = await kafkaError { try await zombie.commit(timeout: Self.limit) }
    #expect(error?.transactionRemedy == .replace)
    #expect(error?.code == .fenced)
    zombie.shutDown()
    await #expect(throws: KafkaError.self) { try await zombieRun.value }
    #expect(try await test.scan(partition).texts == ["heir"])
  }

  @Test(arguments: LogBackend.available)
  func `a member of an earlier generation commits no offsets`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    let topic = partition.topic
    try await test.withMember(of: [topic]) { member in
      let stale = try await member.reader.groupMetadata()
      let second = Task { try await test.withMember(of: [topic]) { _ in } }
      try await member.nextAssignment()
      try await second.value
      try await member.nextAssignment()
      try await test.withTransactions { writer in
        try await writer.begin()
        _ = try await writer.send(ProducerRecord(topic, "zombie"))
        let error = await kafkaError {
          try await writer.sendOffsets([CommittedOffset(partition, offset: 9)], group: stale, timeout: Self.limit)
        }
        #expect(error?.transactionRemedy == .abort)
        try await writer.abort(timeout: Self.limit)
        // The same writer continues with the current group metadata.
        try await writer.begin()
        try await writer.sendOffsets(
          [CommittedOffset(partition, offset: 3)], group: try await member.reader.groupMetadata(), timeout: Self.limit)
        try await writer.commit(timeout: Self.limit)
      }
      #expect(try await member.reader.committed([partition], timeout: Self.limit).map(\.offset) == [3])
    }
    #expect(try await test.scan(partition).texts.isEmpty)
  }

  @Test(arguments: LogBackend.available)
  func `an empty transaction commits`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    try await test.withTransactions { writer in
      try await writer.begin()
      try await writer.commit(timeout: Self.limit)
      try await writer.begin()
      try await writer.abort(timeout: Self.limit)
    }
  }

  @Test(arguments: LogBackend.available)
  func `many records are sent at once inside a transaction`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .transactions)
    let topic = try await test.topic(partitions: 3)
    try await test.withTransactions { writer in
      try await writer.begin()
      try await withThrowingTaskGroup(of: RecordPosition.self) { group in
        for number in 0..<300 {
          group.addTask { try await writer.send(ProducerRecord(topic, "\(number)", partition: Int32(number % 3))) }
        }
        for try await _ in group {}
      }
      try await writer.commit(timeout: Self.limit)
    }
    var found: Set<String> = []
    for partition in Int32(0)..<3 {
      found.formUnion(try await test.scan(TopicPartition(topic: topic, partition: partition), limit: 500).texts)
    }
    #expect(found == Set((0..<300).map(String.init)))
  }
}
