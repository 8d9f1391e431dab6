import KafkaClient
import MillraceWorker
import Testing

@testable import Operations

@Suite("Reading the current contents of a topic", .timeLimit(.minutes(15)))
struct PresentOffsetsTests {
  private static let topic = "appstore.notifications.tests"
  private let cluster: TestCluster

  init() throws { cluster = try TestCluster(try Fixture().catalog) }

  @Test("it reads all records of all partitions, each partition in order, and ends")
  func whole() async throws {
    let records = (0..<250).map { index in
      ProducerRecord(topic: Self.topic, partition: Int32(index % 3), value: Array("\(index)".utf8))
    }
    try await cluster.write(records)
    let read = try await cluster.read(Self.topic)
    #expect(read.count == 250)
    for partition in 0..<Int32(3) {
      let offsets = read.filter { $0.partition == partition }.map(\.offset)
      #expect(offsets == Array(0..<Int64(offsets.count)))
    }
  }

  @Test("an empty topic ends at once")
  func empty() async throws {
    #expect(try await cluster.read(Self.topic).isEmpty)
  }

  @Test("a missing topic is an error with a remedy")
  func missing() async throws {
    let error = await #expect(throws: OperationError.self) { try await cluster.read("nobody.made.it") }
    #expect(error?.remedy.contains("topics apply") == true)
  }
}
