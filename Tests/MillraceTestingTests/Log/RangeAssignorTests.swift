import KafkaClient
import Testing

@testable import MillraceTesting

@Suite struct RangeAssignorTests {
  @Test func `the first members get the remaining partitions`() {
    let assignment = RangeAssignor.assign(["a": ["t"], "b": ["t"], "c": ["t"]], counts: ["t": 7])
    #expect(assignment.mapValues { $0.map(\.partition) } == ["a": [0, 1, 2], "b": [3, 4], "c": [5, 6]])
  }

  @Test func `topics with the same partition count have each partition number at one member`() {
    let assignment = RangeAssignor.assign(["a": ["t", "u"], "b": ["t", "u"]], counts: ["t": 3, "u": 3])
    for partitions in assignment.values {
      #expect(
        Set(partitions.filter { $0.topic == "t" }.map(\.partition))
          == Set(partitions.filter { $0.topic == "u" }.map(\.partition)))
    }
  }

  @Test func `a member gets no partitions of topics that it does not read or that do not exist`() {
    let assignment = RangeAssignor.assign(["a": ["t"], "b": ["u", "missing"], "c": []], counts: ["t": 1, "u": 1])
    #expect(
      assignment == [
        "a": [TopicPartition(topic: "t", partition: 0)], "b": [TopicPartition(topic: "u", partition: 0)], "c": [],
      ])
  }
}
