// Items of the corpus, which is next to the project and not a part of it.

import AppStore
import TestEnvironment

/// One item of the corpus.
struct CorpusItem {
  let json: JSONObject

  /// Returns the items whose name has a prefix.
  static func all(_ prefix: String) throws -> [CorpusItem] {
    try SharedMaterial.names(in: "corpus").filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }
      .map { CorpusItem(json: try SharedMaterial.json("corpus/" + $0)) }
  }

  var id: String { json["id"].flatMap(String.init(jsonValue:)) ?? "?" }
  var kind: String? { json["kind"].flatMap(String.init(jsonValue:)) }
  /// The body, for V1 items and samples.
  var body: JSONObject? {
    guard case .object(let body) = json["body"] else { return nil }
    return body
  }
  /// The signed text, for the other items.
  var jws: String? { json["jws"].flatMap(String.init(jsonValue:)) }

  /// A field of `expected`; nil if it is absent or null.
  func expected<Value: JSONRepresentable>(_ name: String, as type: Value.Type = Value.self) -> Value? {
    guard case .object(let expected) = json["expected"] else { return nil }
    return expected[name].flatMap(Value.init(jsonValue:))
  }
}
