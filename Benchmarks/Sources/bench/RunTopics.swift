// The topics of one run on a real Kafka.
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceWorker

/// The topics of a worker with an empty handler. Their records are deleted after an hour.
struct RunTopics {
  let prefix = "bench-\(UUID().uuidString.prefix(8).lowercased())."
  let lanes: Int
  let names: WorkerTopics

  /// The topic with the notifications.
  var input: String { prefix + ConsumeStage.topic }
  /// A compacted topic with a partition for each lane, for a peer.
  var changelog: String { prefix + "java-changelog" }

  /// Creates the topics.
  init(on bootstrap: String, lanes: Int) async throws {
    self.lanes = lanes
    names = WorkerTopics(
      worker: EmptyWorker.name, inputs: [prefix + ConsumeStage.topic], delays: EmptyWorker.policy.retryDelays,
      prefix: prefix)
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: bootstrap, clientID: "bench-admin"))
    for name in names.laneTopics + names.others + [changelog] {
      let isCompacted = name == names.ledger || name == changelog
      try await admin.createTopic(
        name, partitions: names.others.contains(name) ? 1 : lanes, replicationFactor: 1,
        settings: isCompacted ? ["cleanup.policy": "compact"] : ["retention.ms": "3600000"], timeout: .seconds(30))
    }
  }

  /// Writes records to the input topic.
  /// - Returns: The chain that signed the notifications.
  func fill(
    _ count: Int, on bootstrap: String, _ make: (inout ConsumeStage, Int) async throws -> [ProducerRecord]
  ) async throws -> SigningChain {
    var stage = try await ConsumeStage(bootstrap: bootstrap, lanes: lanes, prefix: prefix)
    let filling = stage
    try await filling.producing {
      for first in stride(from: 0, to: count, by: 12_000) {
        try await stage.fill(try await make(&stage, min(12_000, count - first)))
      }
    }
    return stage.chain
  }
}
