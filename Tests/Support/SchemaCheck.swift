// Validates values against the JSON Schemas of `topics/schemas/` and `docs/http-workers/`. Implements the keywords of draft 2020-12 that they
// use, and reports any other keyword as a problem, so every constraint in a schema is checked.

package import AppStore
internal import Foundation
internal import TestEnvironment

/// A JSON Schema of `topics/schemas/` or `docs/http-workers/`.
package struct SchemaCheck {
  private let schema: JSONObject

  /// Loads a schema by name, for example `refunds.entitlement.revoked`.
  package init(_ name: String) throws {
    try self.init(file: "topics/schemas/\(name).schema.json")
  }

  /// Loads a schema of the protocol of HTTP workers: `request` or `outcome`.
  package init(protocolFile name: String) throws { try self.init(file: "docs/http-workers/\(name).schema.json") }

  private init(file: String) throws {
    schema = try Project.json(file)
  }

  /// Returns the violations in a value, empty if it is valid.
  package func problems(_ value: JSON) -> [String] { problems(Self.normalized(value), schema, "$") }

  /// `1.0` is the integer 1 in JSON Schema.
  private static func normalized(_ value: JSON) -> JSON {
    switch value {
    case .number(let text): Double(text).flatMap { Int64(exactly: $0) }.map { .integer($0) } ?? value
    case .array(let elements): .array(elements.map(normalized))
    case .object(let object):
      .object(JSONObject(object.members.map { .init(key: $0.key, value: normalized($0.value)) }))
    default: value
    }
  }

  private static let silent: Set<String> = ["$schema", "$id", "$defs", "title", "description", "then", "else"]

  private func problems(_ value: JSON, _ schema: JSONObject, _ place: String) -> [String] {
    schema.members.flatMap { keyword -> [String] in
      switch (keyword.key, keyword.value) {
      case ("type", .string(let type)): return Self.isOf(value, type) ? [] : ["\(place) is not of type \(type)"]
      case ("type", .array(let types)):
        let isOfOne = types.contains { if case .string(let type) = $0 { Self.isOf(value, type) } else { false } }
        return isOfOne ? [] : ["\(place) is of none of the types"]
      case ("$ref", .string(let reference)):
        let name = reference.split(separator: "/").last.map(String.init) ?? ""
        guard case .object(let definitions)? = self.schema["$defs"], case .object(let inner)? = definitions[name] else {
          return ["SchemaCheck does not find \(reference)"]
        }
        return problems(value, inner, place)
      case ("oneOf", .array(let schemas)):
        let fitting = schemas.filter {
          if case .object(let inner) = $0 { problems(value, inner, place).isEmpty } else { false }
        }
        return fitting.count == 1 ? [] : ["\(place) fits \(fitting.count) of the alternatives"]
      case ("items", .object(let inner)):
        guard case .array(let elements) = value else { return [] }
        return elements.enumerated().flatMap { problems($1, inner, "\(place)[\($0)]") }
      case ("maxItems", .integer(let most)):
        guard case .array(let elements) = value else { return [] }
        return elements.count > most ? ["\(place) has too many elements"] : []
      case ("const", let wanted): return value == wanted ? [] : ["\(place) is not \(wanted)"]
      case ("enum", .array(let values)):
        return values.contains(value) ? [] : ["\(place) is not one of the allowed values: \(value)"]
      case ("required", .array(let names)):
        guard case .object = value else { return [] }
        return names.filter { name in Self.member(value, name) == nil }.map { "\(place) has no \($0)" }
      case ("properties", .object(let properties)):
        return properties.members.flatMap { property -> [String] in
          guard let found = Self.member(value, .string(property.key)) else { return [] }
          if property.value == false { return ["\(place).\(property.key) is forbidden"] }
          guard case .object(let inner) = property.value else { return [] }
          return problems(found, inner, "\(place).\(property.key)")
        }
      case ("additionalProperties", .bool(false)):
        guard case .object(let object) = value, case .object(let known)? = schema["properties"] else { return [] }
        return object.members.filter { known[$0.key] == nil }.map { "\(place).\($0.key) is not declared" }
      case ("pattern", .string(let pattern)):
        guard case .string(let text) = value else { return [] }
        return text.range(of: pattern, options: .regularExpression) == nil ? ["\(place) does not match: \(text)"] : []
      case ("format", .string("date-time")):
        guard case .string(let text) = value else { return [] }
        return Timestamp(rfc3339: text) == nil ? ["\(place) is not a date-time: \(text)"] : []
      case ("format", .string("uuid")):
        guard case .string(let text) = value else { return [] }
        return UUID(uuidString: text) == nil ? ["\(place) is not a UUID: \(text)"] : []
      case ("maxLength", .integer(let most)):
        guard case .string(let text) = value else { return [] }
        return text.unicodeScalars.count > most ? ["\(place) is too long"] : []
      case ("minLength", .integer(let least)):
        guard case .string(let text) = value else { return [] }
        return text.unicodeScalars.count < least ? ["\(place) is too short"] : []
      case ("minimum", .integer(let least)):
        guard case .integer(let number) = value else { return [] }
        return number < least ? ["\(place) is below \(least)"] : []
      case ("maximum", .integer(let most)):
        guard case .integer(let number) = value else { return [] }
        return number > most ? ["\(place) is above \(most)"] : []
      case ("allOf", .array(let schemas)):
        return schemas.flatMap { inner -> [String] in
          if case .object(let inner) = inner { problems(value, inner, place) } else { ["\(place): not a schema"] }
        }
      case ("not", .object(let inner)):
        return problems(value, inner, place).isEmpty ? ["\(place) matches the schema that `not` forbids"] : []
      case ("if", .object(let condition)):
        guard case .object(let inner)? = schema[problems(value, condition, place).isEmpty ? "then" : "else"] else {
          return []
        }
        return problems(value, inner, place)
      default:
        return Self.silent.contains(keyword.key) ? [] : ["SchemaCheck does not implement the keyword \(keyword.key)"]
      }
    }
  }

  private static func member(_ value: JSON, _ name: JSON) -> JSON? {
    guard case .object(let object) = value, case .string(let name) = name else { return nil }
    return object[name]
  }

  private static func isOf(_ value: JSON, _ type: String) -> Bool {
    switch value {
    case .object: type == "object"
    case .array: type == "array"
    case .string: type == "string"
    case .integer: type == "integer" || type == "number"
    case .number: type == "number"
    case .bool: type == "boolean"
    case .null: type == "null"
    }
  }
}
