// The environment variable of each key: `kafka.bootstrapServers` is MILLRACE_KAFKA_BOOTSTRAP_SERVERS, the second app's
// bundle identifier is MILLRACE_APPS_1_BUNDLE_ID.

internal import AppStore

enum EnvironmentVariables {
  static let prefix = "MILLRACE_"
  /// Names the configuration file if the command line does not. It is not a key.
  static let configurationFile = "MILLRACE_CONFIG"

  /// Returns the variable of a key.
  static func name(of path: [String]) -> String { prefix + snakePath(path) }

  private static func snakePath(_ path: [String]) -> String { path.map(screamingSnake).joined(separator: "_") }

  /// Returns the problem of a variable that is no key.
  static func unknown(_ name: String, known: [String]) -> MillraceError.Problem {
    let nearest = NearestName.of(name, among: known).map { "did you mean \($0)?" }
    return .init(
      "unknown environment variable", at: name, remedy: nearest ?? "unset it, or see docs/configuration.md")
  }

  /// Returns the worker, and the rest of the path in upper case, of a variable such as
  /// `MILLRACE_WORKERS_RENEWAL_EXTENSIONS_CALL_WEIGHT`; nil if it is no key of a worker.
  static func worker(of variable: String) -> (name: String, setting: Setting<WorkerEntry>?)? {
    let start = name(of: ["workers"]) + "_"
    guard variable.hasPrefix(start) else { return nil }
    let rest = variable.dropFirst(start.count)
    func worker(_ text: Substring) -> String? {
      let name = String(text.map { $0 == "_" ? "-" : Character($0.lowercased()) })
      return WorkerEntry.isName(name) ? name : nil
    }
    if let settings = rest.firstRange(of: "_SETTINGS_") {
      return worker(rest[..<settings.lowerBound]).map { ($0, nil) }
    }
    let matches = WorkerEntry.table.settings.filter { rest.hasSuffix("_" + snakePath($0.variable)) }
    guard let setting = matches.max(by: { $0.name.count < $1.name.count }) else { return nil }
    return worker(rest.dropLast(snakePath(setting.variable).count + 1)).map { ($0, setting) }
  }

  /// Returns the value of a variable in the form in which the file holds it. Lists and maps are written in YAML's flow
  /// style (`[a, b]`, `{a: b}`); a list may also be comma-separated.
  static func value(_ text: String, of kind: String, name: String) throws(MillraceError) -> YAMLValue {
    let isList = kind.hasPrefix("list")
    guard isList || kind == "map" else { return YAMLValue(.scalar(text)) }
    if let first = text.first, first == "[" || first == "{" {
      var value = try YAMLValue(parsing: text, file: name, area: .configuration)
      value.line = 0
      return value
    }
    guard isList else { return YAMLValue(.scalar(text)) }
    return YAMLValue(.list(text.split(separator: ",").map { YAMLValue(.scalar(String($0.trimmingBlanks))) }))
  }

  /// Returns whether Kubernetes set the variable for a Service named `millrace-…` (a docker-compatible service link).
  /// Service links look like keys: a Service `millrace-ingress` sets MILLRACE_INGRESS_PORT to `tcp://10.0.0.1:8080`.
  static func isServiceLink(_ name: String, _ value: String) -> Bool {
    if name.hasSuffix("_SERVICE_HOST") || name.hasSuffix("_SERVICE_PORT") || name.contains("_SERVICE_PORT_") {
      return true
    }
    var parts = name.split(separator: "_")
    if parts.last == "PORT", value.contains("://") { return true }
    if let last = parts.last, ["ADDR", "PORT", "PROTO"].contains(last) { parts.removeLast() }
    // The rest of a service link is `…_PORT_443_TCP`.
    return parts.count >= 4 && parts[parts.count - 3] == "PORT" && parts[parts.count - 2].allSatisfy(\.isNumber)
      && ["TCP", "UDP", "SCTP"].contains(parts[parts.count - 1])
  }

  /// `bootstrapServers` → `BOOTSTRAP_SERVERS`, `productionURL` → `PRODUCTION_URL`, `renewal-extensions` →
  /// `RENEWAL_EXTENSIONS`. A placeholder such as `<name>` becomes `<NAME>`.
  private static func screamingSnake(_ name: String) -> String {
    guard !name.contains("-"), !name.hasPrefix("<") else { return name.uppercased().replacing("-", with: "_") }
    var words = ""
    var previous: Character?
    for character in name {
      if character.isUppercase, let previous, !previous.isUppercase { words.append("_") }
      words.append(contentsOf: character.uppercased())
      previous = character
    }
    return words
  }
}

extension StringProtocol {
  /// The text without leading and trailing spaces and tabs.
  var trimmingBlanks: SubSequence {
    let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let start = drop(while: blank)
    guard let last = start.lastIndex(where: { !blank($0) }) else { return start[start.startIndex..<start.startIndex] }
    return start[start.startIndex...last]
  }
}
