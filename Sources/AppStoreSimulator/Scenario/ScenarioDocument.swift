// YAML to JSON, so that a scenario file and the control endpoint are read by the same code. The only file that knows the
// YAML library.

internal import AppStore
internal import Yams

enum ScenarioDocument {
  /// The mapping that a YAML document holds.
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
      throw ScenarioError("", "a scenario is a mapping of keys such as apps, world, events")
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
        guard let name = key.scalar?.string else { throw ScenarioError(path, "a key that is not text") }
        object.members.append(
          JSONObject.Member(key: name, value: try value(element, at: path.isEmpty ? name : "\(path).\(name)")))
      }
      return .object(object)
    case .alias:
      throw ScenarioError(path, "an alias that names no anchor")
    }
  }

  /// Only what JSON would write the same way is a number: `012` and `1e5` stay text.
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
