import AppStore
import Foundation
import Testing

struct JSONCodableTests {
  @Test func everyKindOfValuePassesThroughFoundation() throws {
    let value: JSON = [
      "null": .null, "true": true, "false": false, "int": -7, "max": .integer(.max),
      "big": .number("18446744073709551615"),
      "float": .number("1.5"), "string": "x\"é", "array": [1, [.null], [:]], "object": ["a": ["b": 1]],
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let decoded = try JSONDecoder().decode(JSON.self, from: encoder.encode(value))
    #expect(sorted(decoded) == sorted(value))
  }

  @Test(arguments: ["null", "1", "\"x\"", "true", "[1]", "2.5"])
  func aLoneValueDecodes(text: String) throws {
    #expect(try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) == JSON(parsing: Array(text.utf8)))
  }

  @Test func aNumberBeyondDoubleIsAnEncodingError() {
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([JSON.number("1e999")]) }
  }

  /// Foundation's decoders lose the order of members.
  private func sorted(_ value: JSON) -> JSON {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let object):
      .object(
        JSONObject(
          object.members.map { JSONObject.Member(key: $0.key, value: sorted($0.value)) }.sorted { $0.key < $1.key }))
    default: value
    }
  }
}
