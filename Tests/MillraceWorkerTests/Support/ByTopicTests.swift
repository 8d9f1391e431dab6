import Testing

@testable import MillraceWorker

@Suite struct ByTopicTests {
  @Test func `initial topics are sorted by name and later topics are appended`() {
    var values = ByTopic(["b": 2, "a": 1])
    let place = values.place(of: "0", default: 7)
    values[place] += 1
    #expect(values.topics == ["a", "b", "0"] && values.values == [1, 2, 8])
    #expect(values.place(of: "c") == nil)
    let known = values.place(of: "b", default: 9)
    #expect(known == 1)
    #expect(values.dictionary == ["a": 1, "b": 2, "0": 8])
  }
}
