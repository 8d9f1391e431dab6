import KafkaClient
import TestEnvironment
import Testing

@testable import MillraceCore
@testable import Postgres

@Suite(.timeLimit(.minutes(15))) struct PageQueueTests {
  private func page(_ count: Int, partition: Int32) -> EncodedPage {
    let definition = TableDefinition.of(.notifications)
    return EncodedPage(
      (0..<count).map { record("k", "{}", at: Int64($0)) }, of: TopicPartition(topic: "t", partition: partition),
      from: 0, to: Int64(count), as: RowEncoder(definition), definition)
  }

  @Test(
    arguments: [
      ([20, 20, 20, 5], [2, 2]), ([70], [1]), ([70, 1], [1, 1]), ([10, 60, 1], [1, 1, 1]), ([1, 1, 1], [3]),
    ] as [([Int], [Int])])
  func `pages are taken in order, as many as fit, and at least one`(sizes: [Int], taken: [Int]) async throws {
    let queue = PageQueue()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, size) in sizes.enumerated() {
        let page = page(size, partition: Int32(number))
        group.addTask { _ = await queue.put(page) }
        // The next page follows this one.
        try await waitUntil(queue.count > number)
      }
      var (counts, order): ([Int], [Int32]) = ([], [])
      while order.count < sizes.count {
        let pages = await queue.take(upTo: 50)
        counts.append(pages.count)
        order += pages.map(\.partition.partition)
      }
      #expect(counts == taken && order == (0..<Int32(sizes.count)).map { $0 })
    }
  }
}
