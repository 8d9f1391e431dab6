// A real Kafka of three nodes as the Kafka of a schedule. scripts/checks/models/play.py runs the nodes and the proxy
// between them and this process, and does what it is asked to on the standard output.

internal import Dispatch
internal import Glibc
internal import KafkaClient
internal import MillraceRecords

struct RealKafka: Kafka {
  let log: any RecordLog
  private let admin: KafkaAdmin
  private static let limit = Duration.seconds(60)

  init(servers: String) async throws {
    let configuration = KafkaConfiguration(bootstrapServers: servers, clientID: "models")
    admin = KafkaAdmin(configuration)
    log = try await KafkaLog.connect(configuration, timeout: Self.limit)
  }

  /// Asks the script for something and returns its answer.
  @discardableResult
  static func ask(_ what: String) async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        print("ask \(what)")
        fflush(nil)
        continuation.resume(returning: readLine() ?? "")
      }
    }
  }

  func create(_ topic: String, partitions: Int) async throws {
    try await createTopic(topic, partitions)
    // A member that asks a node which does not know the topic yet would have no partitions for minutes.
    await Self.ask("settle")
  }

  func recreate(_ topic: String) async throws {
    let count = try await log.partitionCounts(of: [topic], timeout: Self.limit)[topic] ?? 1
    _ = try await admin.deleteTopics(withPrefix: topic, timeout: Self.limit)
    var error: KafkaError?
    // The nodes delete a topic after they have answered.
    repeat {
      if error != nil { await wait(.milliseconds(100)) }
      error = nil
      do throws(KafkaError) { try await createTopic(topic, count) } catch let failure { error = failure }
    } while error?.code == .topicAlreadyExists
    if let error { throw error }
    await Self.ask("settle")
  }

  private func createTopic(_ topic: String, _ partitions: Int) async throws(KafkaError) {
    try await admin.createTopic(
      topic, partitions: partitions, replicationFactor: 3, settings: ["retention.ms": "-1"], timeout: Self.limit)
  }

  func wait(_ duration: Duration) async {
    do { try await Task.sleep(for: duration) } catch { /* Schedules are not cancelled. */  }
  }

  func hold(_ isHolding: Bool) async { await Self.ask(isHolding ? "hold" : "pass") }

  func heldAnswer() async -> String? {
    let answer = await Self.ask("arrival")
    return answer.isEmpty ? nil : answer
  }

  func stopNode(of place: Place) async {
    switch place {
    case .group(let name): await Self.ask("stop group \(name)")
    case .transactions(let name): await Self.ask("stop transactions \(name)")
    case .leader(let partition): await Self.ask("stop leader \(partition.topic)")
    }
  }

  func startNodes() async { await Self.ask("start") }
  func silence(_ duration: Duration) async { await Self.ask("silence \(duration / .seconds(1))") }
}
