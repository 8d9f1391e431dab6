import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite struct LaneCountTests {
  private let topics = WorkerTopics(
    worker: "mill", inputs: ["in"], outputTopics: ["rows"], delays: [.seconds(1)], prefix: "")

  private var counts: [String: Int] {
    var counts = Dictionary(uniqueKeysWithValues: topics.laneTopics.map { ($0, 4) })
    for topic in topics.others + topics.outputTopics { counts[topic] = 1 }
    return counts
  }

  @Test func `lane topics with one partition count are accepted, with any count for other topics`() {
    #expect(LaneCount.problems(topics, counts).isEmpty)
  }

  @Test func `every missing topic is named`() {
    for topic in topics.laneTopics + topics.others + topics.outputTopics {
      var counts = counts
      counts[topic] = nil
      #expect(LaneCount.problems(topics, counts).map(\.place) == [topic])
    }
  }

  @Test func `the error for a missing table names the worker that declares it`() {
    var counts = counts
    counts["rows"] = nil
    let problem = LaneCount.problems(topics, counts).first
    #expect(problem?.what.contains("the worker mill declares in its `outputTopics`") == true)
    #expect(problem?.remedy.contains("topics' directory") == true)
  }

  @Test func `a topic with another partition count is named`() {
    var counts = counts
    counts[topics.replay] = 3
    #expect(LaneCount.problems(topics, counts).map(\.place) == [topics.replay])
  }
}
