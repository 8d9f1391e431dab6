// Tests the behaviour of records on every log: order, bytes, partitions, watermarks and scans.

import KafkaClient
import MillraceRecords
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct RecordConformanceTests {
  @Test(.enabled(if: LogBackend.realServers != nil, "set KAFKA_BOOTSTRAP_SERVERS to a real Kafka"))
  func `a real cluster has all capabilities`() async throws {
    #expect(try await LogUnderTest(.real).log.description.capabilities == .all)
  }

  @Test(arguments: LogBackend.available)
  func `a record is read back byte for byte`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic()
    let partition = TopicPartition(topic: topic, partition: 0)
    let headers = [
      RecordHeader(name: "bytes", value: [0, 255, 10]), RecordHeader(name: "none", value: nil),
      RecordHeader(name: "empty", value: []), RecordHeader("twice", "1"), RecordHeader("twice", "2"),
    ]
    let full = ProducerRecord(
      topic: topic, partition: 0, key: [0, 1, 255], value: [255, 0], headers: headers, timestamp: 1_700_000_000_123)
    let positions = try await test.write(
      full, ProducerRecord(topic: topic, partition: 0, key: [1], value: nil),
      ProducerRecord(topic: topic, partition: 0, key: nil, value: []),
      ProducerRecord(topic: topic, partition: 0, key: [], value: [1]))
    #expect(positions.map(\.offset) == [0, 1, 2, 3])
    let found = try await test.scan(partition).records
    try #require(found.count == 4)
    #expect(
      found[0]
        == ConsumerRecord(
          topic: topic, partition: 0, offset: 0, timestamp: 1_700_000_000_123, key: [0, 1, 255], value: [255, 0],
          headers: headers))
    // A tombstone differs from an empty value, and a missing key from an empty key.
    #expect(found.map(\.value) == [[255, 0], nil, [], [1]])
    #expect(found.map(\.key) == [[0, 1, 255], [1], nil, []])
  }

  @Test(arguments: LogBackend.available)
  func `records of one partition keep the order of the calls`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic(partitions: 2)
    try await test.withWriter { writer in
      for number in 0..<200 {
        _ = try await writer.send(ProducerRecord(topic, "\(number)", partition: Int32(number % 2)))
      }
    }
    for partition in [Int32(0), 1] {
      let found = try await test.scan(TopicPartition(topic: topic, partition: partition), limit: 7)
      #expect(found.texts == (0..<100).map { "\($0 * 2 + Int(partition))" })
      #expect(found.records.map(\.offset) == Array(0..<100))
      #expect(found.end == 100)
    }
  }

  @Test(arguments: LogBackend.available)
  func `a cancelled scan throws CancellationError at any point`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    _ = try await test.write(ProducerRecord(topic: partition.topic, partition: 0, key: nil, value: [1]))
    for patience in [0, 1, 10, 100, 1_000, 10_000] {
      let scan = Task { [log = test.log] in
        _ = try await log.scan(partition, from: .earliest, to: .offset(2), upTo: 1) { _ in }
      }
      for _ in 0..<patience { await Task.yield() }
      scan.cancel()
      await #expect(throws: CancellationError.self, "after \(patience) yields") { try await scan.value }
    }
  }

  @Test(arguments: LogBackend.available)
  func `a key goes to the partition that Java's partitioner chooses`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic(partitions: 12)
    let keys = ["2000000000000001", "2000000000000002", "a", "ab", "abc", "abcd", "", "ключ"]
    let positions = try await test.withWriter { writer in
      var positions: [Int32] = []
      for key in keys {
        positions.append(try await writer.send(ProducerRecord(topic, "v", partition: nil, key: key)).partition)
      }
      return positions
    }
    #expect(positions == keys.map { JavaPartitioner.partition(of: Array($0.utf8), among: 12) })
  }

  @Test(arguments: LogBackend.available)
  func `a missing topic has no count and a missing partition is an error`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic(partitions: 2)
    let missing = "\(test.prefix).missing"
    #expect(try await test.log.partitionCounts(of: [topic, missing], timeout: .seconds(30)) == [topic: 2])
    let error = await kafkaError { try await test.write(ProducerRecord(topic, "v", partition: 9)) }
    #expect(error != nil)
  }

  @Test(arguments: LogBackend.available)
  func `watermarks and scans return the end of a partition`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic(partitions: 2)
    let (full, empty) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1))
    try await test.write(ProducerRecord(topic, "a"), ProducerRecord(topic, "b"), ProducerRecord(topic, "c"))
    #expect(
      try await test.log.highWatermarks(of: [full, empty], timeout: .seconds(30)) == [full: 0..<3, empty: 0..<0])
    #expect(try await test.scan(empty).end == 0)
    #expect(try await test.scan(full, from: .offset(1)).texts == ["b", "c"])
    #expect(try await test.scan(full, from: .offset(3)).end == 3)
    #expect(try await test.scan(full, from: .latest).texts.isEmpty)
    let found = Found()
    #expect(
      try await { (log: any RecordLog) async throws in
        try await log.scan(full, from: .earliest, to: .offset(2), upTo: 10) { found.add($0) }
      }(test.log) == 2)
    #expect(found.records.map(\.text) == ["a", "b"])
  }

  @Test(arguments: LogBackend.available)
  func `a scan of many partitions reads each range in order and counts filtered records`(
    _ backend: LogBackend
  ) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic(partitions: 20)
    try await test.withWriter { writer in
      for number in Int32(0)..<20 {
        for text in ["a", "b", "c", "d"] {
          var record = ProducerRecord(topic, text, partition: number)
          record.headers = [RecordHeader("kind", "odd one"), RecordHeader("kind", text == "c" ? "odd" : "even")]
          _ = try await writer.send(record)
        }
      }
    }
    let log = test.log
    // The second record, or the second and third. The range of every third partition is empty.
    let ranges = Dictionary(
      uniqueKeysWithValues: (Int32(0)..<20).map {
        (TopicPartition(topic: topic, partition: $0), Int64(1)..<Int64($0 % 3) + 1)
      })
    let cases: [(HeaderFilter?, [String])] = [
      (nil, ["b", "c"]), (HeaderFilter(["kind": [Array("odd".utf8)]]), ["c"]),
    ]
    for (filter, wanted) in cases {
      let pages = Mutex<[ScanPage]>([])
      try await log.scan(ranges, where: filter, upTo: 1) { page in pages.withLock { $0.append(page) } }
      for (partition, range) in ranges {
        let found = pages.withLock { $0.filter { $0.partition == partition } }
        #expect(found.reduce(0) { $0 + $1.read } == range.count)
        let expected = zip(Int64(1)..., ["b", "c"]).filter { range.contains($0.0) && wanted.contains($0.1) }
        #expect(found.flatMap(\.records).map(\.text) == expected.map(\.1))
      }
    }
    struct Enough: Error {}
    await #expect(throws: Enough.self) {
      try await log.scan(ranges, where: nil, upTo: 10) { _ in throw Enough() }
    }
  }

  @Test(arguments: LogBackend.available)
  func `a scan from an offset out of range is an error`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    try await test.write(ProducerRecord(partition.topic, "a"))
    let error = await kafkaError {
      try await test.log.scan(partition, from: .offset(5), to: .never, upTo: 10) { _ in }
    }
    #expect(error != nil)
  }

  @Test(arguments: LogBackend.available)
  func `a scan without an end reads new records`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    let (stream, sink) = AsyncStream<ConsumerRecord>.makeStream()
    let log = test.log
    let following = Task {
      try await log.scan(partition, from: .earliest, to: .never, upTo: 10) { for record in $0 { sink.yield(record) } }
    }
    var records = stream.makeAsyncIterator()
    for text in ["a", "b"] {
      try await test.write(ProducerRecord(partition.topic, text))
      #expect(await records.next()?.text == text)
    }
    following.cancel()
    await #expect(throws: CancellationError.self) { try await following.value }
  }

  @Test(arguments: LogBackend.available)
  func `an error of the reading body ends a scan`(_ backend: LogBackend) async throws {
    struct Enough: Error {}
    let test = try await LogUnderTest(backend)
    let partition = TopicPartition(topic: try await test.topic(), partition: 0)
    try await test.write(ProducerRecord(partition.topic, "a"))
    await #expect(throws: Enough.self) {
      try await test.log.scan(partition, from: .earliest, to: .highWatermark, upTo: 1) { _ in throw Enough() }
    }
  }

  @Test(arguments: LogBackend.available)
  func `offsets can be looked up by time`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend, requires: .timeLookup)
    let topic = try await test.topic(partitions: 2)
    let (full, empty) = (TopicPartition(topic: topic, partition: 0), TopicPartition(topic: topic, partition: 1))
    let start: Int64 = 1_700_000_000_000
    for (index, text) in ["a", "b", "c"].enumerated() {
      try await test.write(ProducerRecord(topic, text, timestamp: start + Int64(index) * 1_000))
    }
    let table: [(time: Int64, offset: Int64?)] = [
      (start - 1, 0), (start, 0), (start + 1, 1), (start + 2_000, 2), (start + 2_001, nil),
    ]
    for (time, offset) in table {
      let found = try await test.log.offsets(of: [full, empty], since: time, timeout: .seconds(30))
      #expect(found == (offset.map { [full: $0] } ?? [:]), "since \(time)")
    }
  }

  @Test(arguments: LogBackend.available)
  func `a writer that is shut down refuses records`(_ backend: LogBackend) async throws {
    let test = try await LogUnderTest(backend)
    let topic = try await test.topic()
    let writer = try test.log.makeWriter()
    let running = Task { try await writer.run() }
    _ = try await writer.send(ProducerRecord(topic, "a"))
    writer.shutDown()
    try await running.value
    #expect(await kafkaError { _ = try await writer.send(ProducerRecord(topic, "b")) }?.code == .closed)
  }
}

/// An independent implementation of `Utils.murmur2` of Kafka's Java client, to check the in-memory log.
enum JavaPartitioner {
  static func partition(of key: [UInt8], among count: Int32) -> Int32 {
    let (m, r): (Int32, Int32) = (0x5bd1_e995, 24)
    var h = Int32(bitPattern: 0x9747_b28c) ^ Int32(key.count)
    let words = key.count / 4
    func byte(_ index: Int) -> Int32 { Int32(key[index]) }
    func unsignedShift(_ value: Int32, _ by: Int32) -> Int32 { Int32(bitPattern: UInt32(bitPattern: value) >> by) }
    for word in 0..<words {
      let at = word * 4
      var k = byte(at) + (byte(at + 1) << 8) + (byte(at + 2) << 16) &+ (byte(at + 3) << 24)
      k = k &* m
      k ^= unsignedShift(k, r)
      k = k &* m
      h = h &* m
      h ^= k
    }
    let rest = words * 4
    if key.count % 4 >= 3 { h ^= byte(rest + 2) << 16 }
    if key.count % 4 >= 2 { h ^= byte(rest + 1) << 8 }
    if key.count % 4 >= 1 {
      h ^= byte(rest)
      h = h &* m
    }
    h ^= unsignedShift(h, 13)
    h = h &* m
    h ^= unsignedShift(h, 15)
    return (h & 0x7fff_ffff) % count
  }
}
