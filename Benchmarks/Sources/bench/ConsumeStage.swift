// The notifications for a worker and a loop in C: one topic of an embedded cluster, written before each round.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceWorker
import MillraceTesting

struct ConsumeStage {
  let bootstrap: String
  let lanes: Int
  private let prefix: String
  private let producer: KafkaProducer
  private var fixtures: NotificationFixtures
  private var records: UnsignedRecords

  static let topic = NotificationFixtures.defaultTopic

  /// - Parameter prefix: The prefix of the topic's name.
  init(bootstrap: String, lanes: Int, prefix: String = "") async throws {
    self.bootstrap = bootstrap
    self.lanes = lanes
    self.prefix = prefix
    // Large batches, because the embedded cluster is slow with many small ones.
    producer = try KafkaProducer(
      KafkaConfiguration(
        bootstrapServers: bootstrap, properties: ["linger.ms": "20", "batch.size": "900000"], clientID: "bench-fill"))
    fixtures = try NotificationFixtures(from: SignedDataVerifier.systemTime(), seed: 1)
    records = UnsignedRecords(
      try await fixtures.next(SampleKind(.didRenew)).producerRecord, topic: prefix + Self.topic, lanes: lanes)
  }

  var verifier: SignedDataVerifier { fixtures.verifier }
  var identities: IdentityPolicy { fixtures.identities }
  /// The app of the notifications.
  static var app: SampleApp { SampleApp() }
  /// The chain that signs the notifications.
  var chain: SigningChain { fixtures.chain }

  /// - Parameter isBacklog: Whether the records exist before they are read. Otherwise readers poll a hundred times a
  ///   second, because the embedded cluster does not wake them.
  static func log(_ bootstrap: String, isBacklog: Bool) async throws -> KafkaLog {
    try await KafkaLog.connect(
      KafkaConfiguration(
        bootstrapServers: bootstrap, properties: isBacklog ? ["fetch.wait.max.ms": "50"] : [:], clientID: "bench"),
      timeout: .seconds(30))
  }

  var configuration: MillraceConfiguration {
    var configuration = MillraceConfiguration()
    configuration.apps = [fixtures.appSettings()]
    return configuration
  }

  /// Serves the producer while `body` runs.
  func producing<Result>(_ body: () async throws -> Result) async throws -> Result {
    let producer = producer
    async let running: Void = producer.run()
    let result: Result
    do {
      try await producer.prepare([prefix + Self.topic], timeout: .seconds(30))
      result = try await body()
    } catch {
      producer.shutDown()
      throw error
    }
    producer.shutDown()
    try await running
    return result
  }

  mutating func unsigned(_ count: Int, bytes: Int) -> [ProducerRecord] { records.next(count, bytes: bytes) }

  /// Genuine notifications, each with its own signature.
  mutating func signed(_ count: Int) async throws -> [ProducerRecord] {
    var records: [ProducerRecord] = []
    for index in 0..<count {
      var record = try await fixtures.next(SampleKind(.didRenew)).producerRecord
      record.topic = prefix + Self.topic
      record.partition = Int32(index % lanes)
      records.append(record)
    }
    return records
  }

  /// The ledger entries for handled notifications, distributed over the lanes.
  func ledger(of topic: String, _ numbers: Range<Int>) -> [ProducerRecord] {
    var generator = SystemRandomNumberGenerator()
    // Expired entries would be removed while the lanes start.
    let minute = withUnsafeBytes(of: UInt32(Date().timeIntervalSince1970 / 60).bigEndian) { Array($0) }
    return numbers.map { number in
      // The layout of `Handled`. A lane refuses to start on other data.
      let id = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      return ProducerRecord(
        topic: topic, partition: Int32(number % lanes), key: [UInt8(ascii: "h")] + id,
        value: [1, 1] + minute + [UInt8](repeating: 0, count: 4))
    }
  }

  /// The ledger entries of subscriptions, distributed over the lanes: a state of 216 bytes and a timer for each.
  func subscriptions(of topic: String, _ numbers: Range<Int>) -> [ProducerRecord] {
    var generator = SystemRandomNumberGenerator()
    let due: UInt64 = 1_900_000_000_000  // In 2030, so that no timer fires.
    return numbers.flatMap { number -> [ProducerRecord] in
      let name = Array("\(2_000_000_000_000_000 + number)".utf8)
      // The layout of `LaneTimer`: the doubled time in six times seven bits.
      let time = (due + UInt64(number % 1_000_000) * 1_000) << 1
      let at = (0..<6).map { UInt8(time >> (7 * UInt64($0)) & 0x7F | ($0 < 5 ? 0x80 : 0)) }
      // One random number for eight bytes is quick, and nothing compresses them.
      let state = (0..<27).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
      let lane = Int32(number % lanes)
      return [
        ProducerRecord(topic: topic, partition: lane, key: [UInt8(ascii: "s")] + name, value: [1, 0] + state),
        ProducerRecord(topic: topic, partition: lane, key: [UInt8(ascii: "t")] + name, value: [2, 0] + at),
      ]
    }
  }

  /// Writes records and waits for Kafka, for so many at a time.
  func fill(_ records: [ProducerRecord], atOnce count: Int = 4_000) async throws {
    for start in stride(from: 0, to: records.count, by: count) {
      _ = try await producer.send(contentsOf: Array(records[start..<min(records.count, start + count)]))
    }
  }

  /// Waits until the worker has prefetched its records.
  static func settle() async throws { try await Task.sleep(for: .milliseconds(700)) }
}
