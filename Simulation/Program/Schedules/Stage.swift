// The steps of schedules, and the report of what happens.

internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

final class Stage: Sendable {
  let kafka: any Kafka
  /// The prefix of every name, so that schedules share a cluster.
  private let prefix: String
  private let lines = Mutex<[String]>([])
  private let ends = Mutex<[@Sendable () async -> Void]>([])
  private static let limit = Duration.seconds(60)

  init(_ kafka: any Kafka, prefix: String) { (self.kafka, self.prefix) = (kafka, prefix) }

  var log: any RecordLog { kafka.log }
  func full(_ name: String) -> String { "\(prefix).\(name)" }
  func partition(_ topic: String) -> TopicPartition { TopicPartition(topic: full(topic), partition: 0) }
  func note(_ line: String) { lines.withLock { $0.append(line) } }

  /// Plays a schedule and returns its report.
  static func report(of schedule: Schedule, on kafka: any Kafka, prefix: String) async -> [String] {
    let stage = Stage(kafka, prefix: prefix)
    do { try await schedule.play(stage) } catch { stage.note("the schedule ended early: \(error)") }
    for end in stage.ends.withLock({ $0 }).reversed() { await end() }
    return stage.lines.withLock { $0 }
  }

  // MARK: - Steps

  func topic(_ name: String = "t", partitions: Int = 1) async throws {
    try await kafka.create(full(name), partitions: partitions)
  }

  /// Makes a call, and reports its error.
  func call(_ what: String, _ body: () async throws -> Void) async {
    do {
      try await body()
    } catch let error as KafkaError {
      let remedy = error.isFatal ? "fatal" : error.requiresAbort ? "abort" : error.isRetriable ? "retry" : "no retry"
      note("\(what): \(error.code), \(remedy)")
    } catch {
      note("\(what): \(error)")
    }
  }

  /// Starts a transactional producer, which takes over its id.
  func producer(_ id: String = "p", as name: String? = nil, timeout: Duration = .seconds(60)) async throws -> Producer {
    let writer = try log.makeTransactionalWriter(id: full(id), timeout: timeout)
    let producer = Producer(self, name ?? id, writer)
    end(writer)
    await call("\(producer.name) initializes") { try await writer.initialize(timeout: Self.limit) }
    return producer
  }

  /// Writes records without a transaction.
  func write(_ texts: String..., to topic: String = "t") async throws {
    let writer = try log.makeWriter()
    end(writer)
    for text in texts { await call("write \(text)") { _ = try await writer.send(record(text, topic)) } }
  }

  /// Starts a writer without transactions.
  func writer() throws -> any LogWriter {
    let writer = try log.makeWriter()
    end(writer)
    return writer
  }

  /// Starts a member of the group `g`.
  func member(_ name: String, topic: String = "t", instance: String? = nil, completes: Bool = true) async throws
    -> Member
  {
    var options = LogReaderOptions(instance: instance.map(full), leavesOnShutDown: true)
    options.sessionTimeout = .seconds(6)
    let reader = try log.makeReader(group: full("g"), topics: [full(topic)], options: options)
    let member = Member(self, name, reader, completes: completes)
    ends.withLock { $0.append { await member.stop() } }
    return member
  }

  func record(_ text: String, _ topic: String = "t") -> ProducerRecord {
    ProducerRecord(topic: full(topic), partition: 0, key: nil, value: Array(text.utf8))
  }

  private func end(_ writer: any LogWriter) {
    let running = Task { try await writer.run() }
    ends.withLock {
      $0.append {
        writer.shutDown()
        // The error is in the report of the call that it ended.
        _ = await running.result
      }
    }
  }

  /// Waits until something is so.
  func until(_ what: String, _ condition: () async -> Bool) async {
    for _ in 0..<600 {
      if await condition() { return }
      await kafka.wait(.milliseconds(100))
    }
    note("not within a minute: \(what)")
  }

  // MARK: - Held requests

  /// Holds one request of the schedule's kind during `body`.
  func holding(_ body: () async throws -> Void) async rethrows {
    await kafka.hold(true)
    try await body()
    await kafka.hold(false)
  }

  /// Waits until the held request has arrived.
  /// - Parameter hasCode: Whether the error of its answer does not depend on how fast the brokers are.
  func arrival(hasCode: Bool = true) async {
    let answer = await kafka.heldAnswer()
    note("the held request arrives\(answer.flatMap { hasCode ? ": \($0)" : nil } ?? "")")
  }

  // MARK: - Results

  /// Reports what a reader of committed records finds, once no transaction is open.
  func read(_ topic: String = "t") async {
    let found = Box<[String]>([])
    await call("read \(topic)") {
      _ = try await log.scan(partition(topic), from: .earliest, to: .highWatermark, upTo: 100) { records in
        found.value += records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
      }
    }
    note("\(topic): \(found.value.joined(separator: " "))")
  }

  /// Reports what a reader of committed records finds now.
  func glance(_ topic: String = "t") async {
    let (found, log, partition) = (Box<[String]>([]), self.log, self.partition(topic))
    let scan = Task {
      try await log.scan(partition, from: .earliest, to: .never, upTo: 100) { records in
        found.value += records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
      }
    }
    await kafka.wait(.seconds(3))
    scan.cancel()
    // It ends with a CancellationError.
    _ = await scan.result
    note("\(topic) now: \(found.value.joined(separator: " "))")
  }

  /// Reports the committed offset of the group `g`.
  func readOffset(_ topic: String = "t") async throws {
    let reader = try await member("the reader of offsets", topic: topic).reader
    await call("read offsets") {
      var found: [CommittedOffset]?
      // A coordinator that has just moved refuses at first.
      for _ in 0..<20 where found == nil {
        do {
          found = try await reader.committed([partition(topic)], timeout: .seconds(20))
        } catch {
          guard (error as? KafkaError)?.isRetriable == true else { throw error }
          await kafka.wait(.seconds(1))
        }
      }
      note("offset of \(topic): \(found?.first.map { "\($0.offset)" } ?? "none")")
    }
  }
}
