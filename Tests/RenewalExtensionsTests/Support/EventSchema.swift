// The JSON Schemas of the worker's events, as far as they use the language: enough to hold every event to its own.

import AppStore
import Foundation

/// One of topics/schemas.
struct EventSchema {
  private let root: JSONObject

  /// The schema of an event.
  init(_ event: String) throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "topics/schemas/renewal-extensions.\(event).schema.json")
    root = try JSONObject(parsing: Array(try Data(contentsOf: path)))
  }

  /// What a value does not keep to, and every word of the schema that is not understood here.
  func problems(_ value: JSON) -> [String] { Self.problems(value, root, at: "$") }

  private static let annotations: Set<String> = ["$schema", "$id", "title", "description", "format"]

  private static func problems(_ value: JSON, _ schema: JSONObject, at path: String) -> [String] {
    schema.members.flatMap { member -> [String] in
      switch (member.key, member.value, value) {
      case (let key, _, _) where annotations.contains(key): return []
      case ("type", .string(let type), _):
        return matches(value, type) ? [] : ["\(path) is no \(type)"]
      case ("enum", .array(let values), _): return values.contains(value) ? [] : ["\(path) is none of the enum"]
      case ("pattern", .string(let pattern), .string(let text)):
        guard let regex = try? Regex(pattern) else { return ["\(path): pattern \(pattern)"] }
        return (try? regex.firstMatch(in: text)) != nil ? [] : ["\(path) does not match \(pattern)"]
      case ("minLength", .integer(let limit), .string(let text)): return text.count >= limit ? [] : ["\(path) is short"]
      case ("maxLength", .integer(let limit), .string(let text)): return text.count <= limit ? [] : ["\(path) is long"]
      case ("minimum", .integer(let limit), .integer(let number)): return number >= limit ? [] : ["\(path) is small"]
      case ("maximum", .integer(let limit), .integer(let number)): return number <= limit ? [] : ["\(path) is large"]
      case ("required", .array(let names), .object(let object)):
        return names.compactMap { name in
          if case .string(let name) = name, object[name] == nil { return "\(path).\(name) is missing" }
          return nil
        }
      case ("properties", .object(let properties), .object(let object)):
        return object.members.flatMap { member -> [String] in
          guard case .object(let schema)? = properties[member.key] else { return [] }
          return problems(member.value, schema, at: "\(path).\(member.key)")
        }
      case ("additionalProperties", .bool(false), .object(let object)):
        guard case .object(let properties)? = schema["properties"] else { return ["\(path) has no properties"] }
        return object.members.filter { properties[$0.key] == nil }.map { "\(path).\($0.key) is not declared" }
      case (let key, _, _): return ["\(path): \(key) is not understood, or for another type"]
      }
    }
  }

  private static func matches(_ value: JSON, _ type: String) -> Bool {
    switch (type, value) {
    case ("object", .object), ("string", .string), ("integer", .integer), ("boolean", .bool), ("array", .array): true
    default: false
    }
  }
}
