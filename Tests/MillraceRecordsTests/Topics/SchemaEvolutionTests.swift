// Compares the schemas in topics/schemas with those of the last release. Consumers and tables rely on the fields.

import AppStore
import Foundation
import TestEnvironment
import Testing

@Suite struct SchemaEvolutionTests {
  private static let schemas = URL(filePath: "\(Project.root)/topics/schemas")
  /// The fields of the last release: for each schema the type of each field, with a `!` if it is always present.
  private static let released = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "released-schemas.json")

  /// The fields of a schema by path.
  private static func fields(_ schema: JSONObject, at prefix: String = "") -> [String: String] {
    guard case .object(let properties)? = schema["properties"] else { return [:] }
    var required: [JSON] = []
    if case .array(let names)? = schema["required"] { required = names }
    var fields: [String: String] = [:]
    for property in properties.members {
      guard case .object(let inner) = property.value else { continue }
      let type: String
      switch inner["type"] {
      case .string(let name)?: type = name
      case .array(let names)?:
        type = names.map { if case .string(let name) = $0 { name } else { "" } }.joined(separator: "|")
      default: type = inner["const"] ?? inner["enum"] == nil ? "any" : "constant"
      }
      fields[prefix + property.key] = type + (required.contains(.string(property.key)) ? "!" : "")
      fields.merge(Self.fields(inner, at: prefix + property.key + ".")) { first, _ in first }
    }
    return fields
  }

  private static func current() throws -> [String: [String: String]] {
    var found: [String: [String: String]] = [:]
    for file in try FileManager.default.contentsOfDirectory(at: schemas, includingPropertiesForKeys: nil)
    where file.lastPathComponent.hasSuffix(".schema.json") && file.lastPathComponent != "topic.schema.json" {
      let name = String(file.lastPathComponent.dropLast(".schema.json".count))
      found[name] = fields(try JSONObject(parsing: Array(try Data(contentsOf: file))))
    }
    return found
  }

  /// The changes that would break a consumer of the released schemas.
  private static func breaks(
    from released: [String: [String: String]], to current: [String: [String: String]]
  ) -> [String] {
    released.flatMap { name, fields -> [String] in
      guard let now = current[name] else { return ["\(name) is missing"] }
      return fields.compactMap { field, type in
        guard let newType = now[field] else { return "\(name): \(field) was removed" }
        let widened = newType + "!" == type ? "\(name): \(field) is no longer always present" : nil
        return newType == type || newType == type + "!"
          ? nil : widened ?? "\(name): \(field) was \(type) and is \(newType)"
      }
    }.sorted()
  }

  @Test func `fields are only added since the last release`() throws {
    let current = try Self.current()
    if ProcessInfo.processInfo.environment["MILLRACE_RELEASE_SCHEMAS"] != nil {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(current).write(to: Self.released)
    }
    let released = try JSONDecoder().decode([String: [String: String]].self, from: Data(contentsOf: Self.released))
    #expect(released.count >= 24)
    #expect(Self.breaks(from: released, to: current) == [])
  }

  @Test func `a removed, renamed or retyped field is found, and so is one that may now be absent`() {
    let released = ["table": ["a": "string!", "b": "integer", "c": "string!", "d": "string"]]
    let current = ["table": ["a": "string", "b": "string", "d": "string!", "e": "string"]]
    #expect(
      Self.breaks(from: released, to: current) == [
        "table: a is no longer always present", "table: b was integer and is string", "table: c was removed",
      ])
    #expect(Self.breaks(from: released, to: [:]) == ["table is missing"])
  }
}
