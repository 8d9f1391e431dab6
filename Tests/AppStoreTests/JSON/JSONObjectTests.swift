import AppStore
import Testing

struct JSONObjectTests {
  @Test func ofSeveralMembersWithOneNameTheLastIsRead() throws {
    let object = try JSONObject(parsing: Array(#"{"a":1,"b":2,"a":3}"#.utf8))
    #expect(object["a"] == 3)
    #expect(object.members.map(\.key) == ["a", "b", "a"])
    #expect(object["c"] == nil)
  }

  @Test func writingReplacesTheLastMemberOfTheNameAndItsDuplicatesGo() {
    var object: JSONObject = ["a": 1, "b": 2, "a": 3, "c": 4]
    object["a"] = 5
    #expect(object == ["b": 2, "a": 5, "c": 4])
    object["b"] = 6
    #expect(object == ["b": 6, "a": 5, "c": 4])
    object["d"] = .null
    #expect(object == ["b": 6, "a": 5, "c": 4, "d": .null])
    object["e"] = nil
    #expect(object.members.count == 4)
  }

  @Test func writingNilRemovesEveryMemberOfTheName() {
    var object: JSONObject = ["a": 1, "b": 2, "a": 3]
    object["a"] = nil
    #expect(object == ["b": 2])
  }

  @Test func namesThatOnlyLookEqualAreDifferentNames() {
    // KELVIN SIGN is canonically equivalent to K, and Swift's == says so.
    let object: JSONObject = ["S\u{212A}U": 1]
    #expect(object["SKU"] == nil)
  }
}
