// The members of one section of a scenario. Strict: a key that nobody reads is an error, because a misspelt one would be a
// rehearsal of something else.

internal import AppStore
internal import Clocks

/// Reads members once each; ``finish()`` names those that nobody read.
struct Fields {
  let path: String
  private let json: JSONObject
  private var unread: [String]
  /// Keys that somebody wanted to read: those there are.
  private var known: [String] = []

  init(_ json: JSONObject, at path: String) {
    self.json = json
    self.path = path
    unread = json.members.map(\.key)
  }

  func path(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  mutating func value(_ key: String) -> JSON? {
    unread.removeAll { $0 == key }
    if !known.contains(key) { known.append(key) }
    guard let value = json[key], value != .null else { return nil }
    return value
  }

  func error(_ key: String, _ problem: String) -> ScenarioError { ScenarioError(path(key), problem) }

  /// An error about a name that is none of those that there are.
  func error(_ key: String, _ problem: String, nearestTo name: String, among names: [String]) -> ScenarioError {
    ScenarioError(path(key), problem, nearest: NearestName.of(name, among: names))
  }

  func finish() throws(ScenarioError) {
    if let key = unread.first { throw error(key, "unknown key", nearestTo: key, among: known) }
  }

  mutating func text(_ key: String) throws(ScenarioError) -> String? {
    switch value(key) {
    case nil: return nil
    case .string(let text): return text
    // A group or a key identifier of digits is text without quotes.
    case .integer(let number): return String(number)
    default: throw error(key, "text is expected")
    }
  }

  /// The text of the file that a key names, without white space around it.
  mutating func text(
    inFile key: String, _ readFile: (String) throws -> String
  ) throws(ScenarioError) -> String? {
    guard let name = try text(key) else { return nil }
    do {
      let text = try readFile(name)
      return String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    } catch {
      throw self.error(key, "\(name) cannot be read: \(error)")
    }
  }

  mutating func flag(_ key: String) throws(ScenarioError) -> Bool? {
    switch value(key) {
    case nil: return nil
    case .bool(let flag): return flag
    default: throw error(key, "true or false is expected")
    }
  }

  mutating func integer(
    _ key: String, in range: ClosedRange<Int64> = 0...Int64.max
  ) throws(ScenarioError) -> Int64? {
    guard let value = value(key) else { return nil }
    guard case .integer(let number) = value, range.contains(number) else {
      throw error(key, "a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
    }
    return number
  }

  mutating func number(_ key: String, in range: ClosedRange<Double>) throws(ScenarioError) -> Double? {
    let number: Double?
    switch value(key) {
    case nil: return nil
    case .integer(let integer): number = Double(integer)
    case .number(let text): number = Double(text)
    default: number = nil
    }
    guard let number, range.contains(number) else {
      throw error(key, "a number from \(range.lowerBound) to \(range.upperBound) is expected")
    }
    return number
  }

  /// From 0 to 1.
  mutating func share(_ key: String) throws(ScenarioError) -> Double? { try number(key, in: 0...1) }

  mutating func duration(_ key: String) throws(ScenarioError) -> Duration? {
    guard let text = try text(key) else { return nil }
    guard let duration = DurationText.parse(text) else {
      throw error(key, "a duration such as 500ms, 10s, 5m, 1h or 2d is expected")
    }
    return duration
  }

  mutating func moment(_ key: String) throws(ScenarioError) -> Timestamp? {
    guard let text = try text(key) else { return nil }
    guard let moment = Timestamp(rfc3339: text) else {
      throw error(key, "a moment such as 2026-03-01T00:00:00Z is expected")
    }
    return moment
  }

  mutating func texts(_ key: String) throws(ScenarioError) -> [String]? {
    guard let value = value(key) else { return nil }
    guard case .array(let elements) = value else { throw error(key, "a list is expected") }
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else { throw error(key, "a list of texts is expected") }
      texts.append(text)
    }
    return texts
  }

  mutating func section(_ key: String) throws(ScenarioError) -> Fields? {
    guard let value = value(key) else { return nil }
    guard case .object(let object) = value else { throw error(key, "a section is expected") }
    return Fields(object, at: path(key))
  }

  mutating func sections(_ key: String) throws(ScenarioError) -> [Fields] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value else { throw error(key, "a list of sections is expected") }
    var sections: [Fields] = []
    for element in elements {
      guard case .object(let object) = element else { throw error(key, "a list of sections is expected") }
      sections.append(Fields(object, at: path(key) + "[\(sections.count)]"))
    }
    return sections
  }

  /// Everything that nobody read, as an object; it counts as read then.
  mutating func rest() -> JSONObject {
    defer { unread = [] }
    return JSONObject(json.members.filter { unread.contains($0.key) })
  }

  mutating func environment(_ key: String) throws(ScenarioError) -> AppStoreEnvironment? {
    guard let text = try text(key) else { return nil }
    guard let environment = [AppStoreEnvironment.production, .sandbox].first(where: { $0.rawValue == text }) else {
      throw error(key, "Production or Sandbox is expected", nearestTo: text, among: ["Production", "Sandbox"])
    }
    return environment
  }

  mutating func value<Value>(
    of key: String, among values: [(name: String, value: Value)]
  ) throws(ScenarioError) -> Value? {
    guard let text = try text(key) else { return nil }
    guard let found = values.first(where: { $0.name == text }) else {
      let names = values.map(\.name)
      throw error(key, "one of \(names.joined(separator: ", ")) is expected", nearestTo: text, among: names)
    }
    return found.value
  }

  func required<Value>(_ key: String, _ value: Value?) throws(ScenarioError) -> Value {
    guard let value else { throw error(key, "missing") }
    return value
  }
}
