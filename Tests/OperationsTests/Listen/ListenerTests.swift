import AppStore
import KafkaClient
import MillraceWorker
import Synchronization
import TestEnvironment
import Testing

@testable import Operations

@Suite("Listening to topics", .timeLimit(.minutes(15)))
struct ListenerTests {
  private let fixture: Fixture
  private let cluster: TestCluster

  init() throws {
    fixture = try Fixture()
    cluster = try TestCluster(fixture.catalog)
  }

  private func listener(_ topics: [String]? = nil, from start: StartArgument) throws -> Listener {
    Listener(
      cluster.configuration, topics: try topics ?? TopicSelection().names(in: fixture.catalog), start: start)
  }

  @Test("existing records of every topic are read from the oldest, up to the limit")
  func earliest() async throws {
    let records = [
      try await fixture.record(v2: fixture.sample(.refund)), try await fixture.record(v2: fixture.sample(.test)),
      try fixture.record(v1: fixture.sampleV1(.cancel)),
    ]
    try await cluster.write(records.map(\.producerRecord))
    let collected = CollectedOutput()
    let printer = RecordPrinter(collected.output(), asJSON: true, limit: 3)
    let reading = Mutex<Listener.Reading?>(nil)
    try await listener(from: .earliest).run { found in
      reading.withLock { $0 = found }
    } deliver: {
      try await printer.print($0)
    }
    let found = try #require(reading.withLock { $0 })
    #expect(found.sentence == "listening on 11 topics, 32 partitions")
    #expect(found.missing.isEmpty)
    let types = collected.lines.compactMap { line in
      ["\"REFUND\"", "\"TEST\"", "\"CANCEL\""].first { line.contains("\"type\":\($0)") }
    }
    #expect(types.sorted() == ["\"CANCEL\"", "\"REFUND\"", "\"TEST\""])
  }

  @Test("from the latest, no old record is shown and no record after `ready` is missed")
  func latest() async throws {
    let old = try await fixture.record(v2: fixture.sample(.test, seed: 1)).producerRecord
    let new = try await (2...6).asyncMap { seed in
      try await fixture.record(v2: fixture.sample(.test, seed: UInt64(seed))).producerRecord
    }
    try await cluster.write([old])
    let (ready, signal) = AsyncStream.makeStream(of: Void.self)
    let seen = Mutex<[ConsumerRecord]>([])
    let listener = try listener(from: .latest)
    let listening = Task {
      try await listener.run { _ in
        signal.finish()
      } deliver: { records in
        seen.withLock { seen in
          seen += records
          return seen.count < new.count
        }
      }
    }
    for await _ in ready {}
    try await cluster.write(new)
    try await listening.value
    #expect(Set(seen.withLock { $0.map(\.value) }) == Set(new.map(\.value)))
  }

  @Test("from a time, older records are not shown")
  func since() async throws {
    let records = try await (1...2).asyncMap { seed in
      try await fixture.record(v2: fixture.sample(.test, seed: UInt64(seed))).producerRecord
    }
    try await cluster.write(records)
    let collected = CollectedOutput()
    let printer = RecordPrinter(collected.output(), asJSON: true, limit: 1)
    // The embedded cluster has no offsets by time, so all records are read.
    let future = try #require(StartArgument("2999-01-01"))
    let listener = try listener(from: future)
    let (read, signal) = AsyncStream.makeStream(of: Void.self)
    let listening = Task {
      try await listener.run { _ in
        signal.finish()
      } deliver: {
        try await printer.print($0)
      }
    }
    for await _ in read {}
    try await self.listener(from: try #require(StartArgument("1d"))).run { _ in
    } deliver: {
      try await printer.print($0)
    }
    listening.cancel()
    try await listening.value
    #expect(collected.lines.count == 1)
  }

  @Test("cancellation ends it without an error")
  func cancelled() async throws {
    let (ready, signal) = AsyncStream.makeStream(of: Void.self)
    let listener = try listener(from: .latest)
    let listening = Task {
      try await listener.run { _ in
        signal.finish()
      } deliver: { _ in
        true
      }
    }
    for await _ in ready {}
    listening.cancel()
    try await listening.value
  }

  @Test("a lost cluster is reported, and the listener waits for it")
  func trouble() async throws {
    let (troubles, source) = AsyncStream.makeStream(of: String.self)
    let listener = try listener(from: .latest)
    let embedded = cluster.embedded
    let (ready, signal) = AsyncStream.makeStream(of: Void.self)
    let listening = Task {
      try await listener.run { _ in
        signal.finish()
      } onTrouble: { trouble in
        source.yield(trouble)
      } deliver: { _ in
        false
      }
    }
    for await _ in ready {}
    try ProcessStart.alone { try embedded.takeDown(1) }
    for await trouble in troubles {
      #expect(!trouble.isEmpty && !trouble.contains("\n"))
      break
    }
    try embedded.bringUp(1)
    try await cluster.write([fixture.record(v2: fixture.sample(.test)).producerRecord])
    try await listening.value
  }

  @Test("an error of the consuming closure ends the listener with that error")
  func closedOutput() async throws {
    try await cluster.write([fixture.record(v2: fixture.sample(.test)).producerRecord])
    let printer = RecordPrinter(CollectedOutput.closed, asJSON: true, limit: nil)
    let listener = try listener(from: .earliest)
    let error = await #expect(throws: OperationError.self) {
      try await listener.run { _ in
      } deliver: {
        try await printer.print($0)
      }
    }
    #expect(error?.kind == .outputClosed)
  }

  @Test("missing topics are reported, and it is an error if all are missing")
  func missing() async throws {
    try await cluster.write([fixture.record(v2: fixture.sample(.test)).producerRecord])
    let reading = Mutex<Listener.Reading?>(nil)
    try await listener(["appstore.notifications.tests", "nobody.made.it"], from: .earliest).run { found in
      reading.withLock { $0 = found }
    } deliver: { _ in
      false
    }
    #expect(reading.withLock { $0?.missing } == ["nobody.made.it"])
    let error = await #expect(throws: OperationError.self) {
      try await listener(["nobody.made.it"], from: .latest).run { _ in
      } deliver: { _ in
        false
      }
    }
    #expect(error?.place == "nobody.made.it")
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
