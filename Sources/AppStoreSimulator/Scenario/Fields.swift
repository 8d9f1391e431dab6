// Reads the members of one section of a scenario. An unknown key is an error, because a misspelled key would silently
// rehearse something else.

internal import AppStore
internal import MillraceTime

/// Reads each member once. ``finish()`` reports the first member that was not read.
struct Fields {
  let path: String
  private let json: JSONObject
  private var unread: [String]
  /// The keys that the section accepts: every key that was looked up so far.
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

  /// An error about an unknown name, with the nearest known name as a suggestion.
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
    // A group or key identifier that consists of digits only, written without quotes.
    case .integer(let number): return String(number)
    default: throw error(key, "expected text")
    }
  }

  /// Returns the contents of the file that a key names, without surrounding white space.
  mutating func text(
    inFile key: String, _ readFile: (String) throws -> String
  ) throws(ScenarioError) -> String? {
    guard let name = try text(key) else { return nil }
    do {
      let text = try readFile(name)
      return String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    } catch {
      throw self.error(key, "cannot read \(name): \(error)")
    }
  }

  mutating func flag(_ key: String) throws(ScenarioError) -> Bool? {
    switch value(key) {
    case nil: return nil
    case .bool(let flag): return flag
    default: throw error(key, "expected true or false")
    }
  }

  mutating func integer(
    _ key: String, in range: ClosedRange<Int64> = 0...Int64.max
  ) throws(ScenarioError) -> Int64? {
    guard let value = value(key) else { return nil }
    guard case .integer(let number) = value, range.contains(number) else {
      throw error(key, "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A price in milliunits, at most a thousand million units, so that a sum of prices is a number too.
  mutating func price(_ key: String) throws(ScenarioError) -> Int64? { try integer(key, in: 0...1_000_000_000_000) }

  mutating func number(_ key: String, in range: ClosedRange<Double>) throws(ScenarioError) -> Double? {
    let number: Double?
    switch value(key) {
    case nil: return nil
    case .integer(let integer): number = Double(integer)
    case .number(let text): number = Double(text)
    default: number = nil
    }
    guard let number, range.contains(number) else {
      throw error(key, "expected a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A number from 0 to 1.
  mutating func share(_ key: String) throws(ScenarioError) -> Double? { try number(key, in: 0...1) }

  mutating func duration(_ key: String) throws(ScenarioError) -> Duration? {
    guard let text = try text(key) else { return nil }
    guard let duration = DurationText.parse(text) else {
      throw error(key, "expected a duration such as 500ms, 10s, 5m, 1h or 2d")
    }
    return duration
  }

  mutating func moment(_ key: String) throws(ScenarioError) -> Timestamp? {
    guard let text = try text(key) else { return nil }
    guard let moment = Timestamp(rfc3339: text) else {
      throw error(key, "expected a time such as 2026-03-01T00:00:00Z")
    }
    return moment
  }

  mutating func texts(_ key: String) throws(ScenarioError) -> [String]? {
    guard let value = value(key) else { return nil }
    guard case .array(let elements) = value else { throw error(key, "expected a list") }
    var texts: [String] = []
    for element in elements {
      guard case .string(let text) = element else { throw error(key, "expected a list of texts") }
      texts.append(text)
    }
    return texts
  }

  mutating func section(_ key: String) throws(ScenarioError) -> Fields? {
    guard let value = value(key) else { return nil }
    guard case .object(let object) = value else { throw error(key, "expected a section") }
    return Fields(object, at: path(key))
  }

  mutating func sections(_ key: String) throws(ScenarioError) -> [Fields] {
    guard let value = value(key) else { return [] }
    guard case .array(let elements) = value else { throw error(key, "expected a list of sections") }
    var sections: [Fields] = []
    for element in elements {
      guard case .object(let object) = element else { throw error(key, "expected a list of sections") }
      sections.append(Fields(object, at: path(key) + "[\(sections.count)]"))
    }
    return sections
  }

  /// Returns all unread members as an object and marks them as read.
  mutating func rest() -> JSONObject {
    defer { unread = [] }
    return JSONObject(json.members.filter { unread.contains($0.key) })
  }

  mutating func environment(_ key: String) throws(ScenarioError) -> AppStoreEnvironment? {
    guard let text = try text(key) else { return nil }
    guard let environment = [AppStoreEnvironment.production, .sandbox].first(where: { $0.rawValue == text }) else {
      throw error(key, "expected Production or Sandbox", nearestTo: text, among: ["Production", "Sandbox"])
    }
    return environment
  }

  mutating func value<Value>(
    of key: String, among values: [(name: String, value: Value)]
  ) throws(ScenarioError) -> Value? {
    guard let text = try text(key) else { return nil }
    guard let found = values.first(where: { $0.name == text }) else {
      let names = values.map(\.name)
      throw error(key, "expected one of \(names.joined(separator: ", "))", nearestTo: text, among: names)
    }
    return found.value
  }

  func required<Value>(_ key: String, _ value: Value?) throws(ScenarioError) -> Value {
    guard let value else { throw error(key, "missing") }
    return value
  }
}
