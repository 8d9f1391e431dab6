// YAML values with their line numbers. Scalars stay text: the codec of a key decides what `on` or `012` means. Only
// this file uses the YAML library.

internal import Yams

/// A YAML value and its line.
package struct YAMLValue: Sendable, Hashable {
  package struct Member: Sendable, Hashable {
    package var key: String
    package var line: Int
    package var value: YAMLValue
  }

  package enum Content: Sendable, Hashable {
    case null
    case scalar(String)
    case list([YAMLValue])
    case map([Member])
  }

  package var content: Content
  /// The line, counted from 1; 0 if the value does not come from a file.
  package var line: Int

  package init(_ content: Content, line: Int = 0) {
    self.content = content
    self.line = line
  }

  /// The kind of value, as errors name it.
  package var kind: String {
    switch content {
    case .null: "nothing"
    case .scalar: "a single value"
    case .list: "a list"
    case .map: "a section"
    }
  }
}

extension YAMLValue {
  /// Parses one YAML document.
  ///
  /// - Throws: ``MillraceError`` with file and line. It does not quote the text, which may contain a password.
  package init(parsing text: String, file: String, area: MillraceError.Area) throws(MillraceError) {
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch {
      let (what, line) = Self.explain(error)
      throw MillraceError(
        area, "not valid YAML: \(what)", at: line.map { "\(file):\($0)" } ?? file,
        remedy: "correct the file: it must be one document, with each key once")
    }
    guard let root else {
      self.init(.null, line: 1)
      return
    }
    try self.init(root, file: file, area: area)
  }

  private init(_ node: Node, file: String, area: MillraceError.Area) throws(MillraceError) {
    let line = node.mark?.line ?? 0
    switch node {
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain || scalar.style == .any
      let isNull = isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
      self.init(isNull ? .null : .scalar(scalar.string), line: line)
    case .sequence(let sequence):
      var values: [YAMLValue] = []
      for element in sequence { values.append(try YAMLValue(element, file: file, area: area)) }
      self.init(.list(values), line: line)
    case .mapping(let mapping):
      var members: [Member] = []
      for (key, value) in mapping {
        guard let name = key.scalar?.string else {
          throw MillraceError(
            area, "a key is not text", at: "\(file):\(key.mark?.line ?? line)", remedy: "write `name: value`")
        }
        let value = try YAMLValue(value, file: file, area: area)
        members.append(Member(key: name, line: key.mark?.line ?? line, value: value))
      }
      self.init(.map(members), line: line)
    case .alias:
      throw MillraceError(
        area, "an alias names no anchor", at: "\(file):\(line)", remedy: "write the value instead of the alias")
    }
  }

  private static func explain(_ error: any Error) -> (what: String, line: Int?) {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      (problem, mark.line)
    case .reader(let problem, _, _, _): (problem, nil)
    case .duplicatedKeysInMapping(let duplicates, let context):
      ("the key \(duplicates.joined(separator: ", ")) occurs twice", context.mark.line)
    default: ("the parser gave no reason", nil)
    }
  }
}

extension YAMLValue.Content {
  /// The value on one line: lists and maps in flow style, quotes only if a plain scalar would be read differently.
  package var flowText: String {
    switch self {
    case .null: ""
    case .scalar(let text): Self.scalarText(text)
    case .list(let values): "[" + values.map(\.content.flowText).joined(separator: ", ") + "]"
    case .map(let members):
      "{"
        + members.map { "\(Self.scalarText($0.key)): \($0.value.content.flowText)" }.joined(separator: ", ")
        + "}"
    }
  }

  private static func scalarText(_ text: String) -> String {
    let isPlain =
      !text.isEmpty && !["~", "null", "Null", "NULL"].contains(text)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
          UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "+"):
          true
        default: false
        }
      }
      && text.utf8.first != UInt8(ascii: "-") && text.utf8.first != UInt8(ascii: ":")
      && text.utf8.last != UInt8(ascii: ":")
    guard !isPlain else { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        quoted += "\\x" + Hex.text([UInt8(truncatingIfNeeded: scalar.value)])
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
