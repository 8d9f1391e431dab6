// Everything that a cluster holds at one moment, read without a group.
import Kafka
import Millrace

struct TopicReader {
  let kafka: KafkaConfiguration

  init(_ configuration: MillraceConfiguration) throws {
    var kafka = try configuration.kafka.client(clientID: "millrace-demo")
    // The embedded cluster answers an idle fetch only when its wait is over.
    kafka.properties["fetch.wait.max.ms"] = "10"
    self.kafka = kafka
  }

  /// The records of these partitions up to what was written when this was called.
  func read(_ partitions: [TopicPartition]) async throws -> [ConsumerRecord] {
    let consumer = try KafkaConsumer(
      kafka, subscription: .partitions(Dictionary(uniqueKeysWithValues: partitions.map { ($0, .earliest) })))
    async let running: Void = consumer.run()
    var ends: [TopicPartition: Range<Int64>] = [:]
    for partition in partitions {
      ends[partition] = try await consumer.watermarks(of: partition, timeout: .seconds(10))
    }
    var records: [ConsumerRecord] = []
    for await event in consumer.events {
      switch event {
      case .assigned(let queues):
        for queue in queues {
          guard let end = ends[queue.partition], !end.isEmpty else { continue }
          var next = end.lowerBound
          while next < end.upperBound {
            let batch = try await queue.nextBatch(upTo: 1_000)
            guard let last = batch.last else { throw DemoError("\(queue.partition) was closed while it was read") }
            records += batch
            next = last.offset + 1
          }
        }
        consumer.shutDown()
      case .revoked(let revocation): revocation.complete()
      }
    }
    try await running
    return records
  }
}
