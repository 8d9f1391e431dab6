// Converts YAML to JSON, so that the same code reads scenario files and control requests. Only this file uses the YAML
// library.

internal import AppStore
internal import Yams

enum ScenarioDocument {
  /// Returns the mapping that a YAML document contains.
  static func object(parsing text: String) throws(ScenarioError) -> JSONObject {
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch {
      throw ScenarioError(
        "", "not valid YAML: \(String(describing: error).split(separator: "\n").joined(separator: " "))")
    }
    guard let root else { return JSONObject() }
    guard case .object(let object) = try value(root, at: "") else {
      throw ScenarioError("", "expected a mapping with keys such as apps, world, events")
    }
    return object
  }

  private static func value(_ node: Node, at path: String) throws(ScenarioError) -> JSON {
    switch node {
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain || scalar.style == .any
      return isPlain ? plain(scalar.string) : .string(scalar.string)
    case .sequence(let sequence):
      var elements: [JSON] = []
      for element in sequence { elements.append(try value(element, at: "\(path)[\(elements.count)]")) }
      return .array(elements)
    case .mapping(let mapping):
      var object = JSONObject()
      for (key, element) in mapping {
        guard let name = key.scalar?.string else { throw ScenarioError(path, "a key is not text") }
        object.members.append(
          JSONObject.Member(key: name, value: try value(element, at: path.isEmpty ? name : "\(path).\(name)")))
      }
      return .object(object)
    case .alias:
      throw ScenarioError(path, "an alias names no anchor")
    }
  }

  /// A scalar is a number only if JSON writes it the same way. `012` and `1e5` remain text.
  private static func plain(_ text: String) -> JSON {
    switch text {
    case "", "~", "null": return .null
    case "true": return true
    case "false": return false
    default: break
    }
    if let number = Int64(text), String(number) == text { return .integer(number) }
    let isDecimal = text.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 } && text.utf8.first != 46
    return isDecimal && Double(text) != nil && text.utf8.last != 46 ? .number(text) : .string(text)
  }
}
