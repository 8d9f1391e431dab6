// Reads file and environment into a checked configuration that knows the source of each value. It collects all
// problems, so that one start reports every mistake.

internal import AppStore

/// The source of a value.
package enum ConfigurationSource: Sendable, Hashable, CustomStringConvertible {
  /// The default: neither the file nor the environment sets it.
  case standard
  /// A file and a line in it, counted from 1.
  case file(String, line: Int)
  /// An environment variable.
  case environment(String)

  /// `default`, `millrace.yaml:12`, or the variable's name.
  package var description: String {
    switch self {
    case .standard: "default"
    case .file(let path, let line): "\(path):\(line)"
    case .environment(let name): name
    }
  }
}

/// A configuration and the sources of its values.
package struct LoadedConfiguration: Sendable {
  /// The configuration.
  package var configuration: MillraceConfiguration
  /// Sources by dotted name, such as `kafka.commit` or `apps[0].bundleId`. Keys with their default are absent.
  package var sources: [String: ConfigurationSource]

  /// Reads the file at `path`, applies the environment, and checks the result.
  ///
  /// - Parameters:
  ///   - path: The file; if `nil`, the file that `MILLRACE_CONFIG` names, or the environment alone.
  ///   - environment: The process's environment; variables that do not begin with `MILLRACE_` are ignored.
  /// - Throws: ``MillraceError`` with every problem: unknown keys, invalid values, violated rules between keys.
  package static func load(path: String?, environment: [String: String]) throws(MillraceError) -> Self {
    let path = path ?? environment[EnvironmentVariables.configurationFile]
    let text = if let path { try Files.readText(path) } else { "" }
    return try load(text: text, file: path ?? "(no file)", environment: environment)
  }

  /// Reads `text` as the content of `file`; otherwise like ``load(path:environment:)``.
  package static func load(
    text: String, file: String = "millrace.yaml", environment: [String: String] = [:]
  ) throws(MillraceError) -> Self {
    var reader = ConfigurationReader(file: file)
    reader.read(try YAMLValue(parsing: text, file: file, area: .configuration))
    reader.read(environment: environment)
    var problems = reader.problems
    if problems.isEmpty {
      let sources = reader.sources
      problems = reader.configuration.brokenRelations { sources[$0] ?? .standard }
    }
    guard problems.isEmpty else { throw MillraceError(.configuration, problems) }
    return Self(configuration: reader.configuration, sources: reader.sources)
  }
}

private struct ConfigurationReader {
  let file: String
  var configuration = MillraceConfiguration()
  var sources: [String: ConfigurationSource] = [:]
  var problems: [MillraceError.Problem] = []

  init(file: String) { self.file = file }

  mutating func read(_ root: YAMLValue) {
    let report = MillraceConfiguration.table.read(root, into: &configuration, place: file)
    take(report, label: "")
    readList(report, "apps", \.apps, AppSettings.table, standard: AppSettings(), naming: "bundleId")
    readList(report, "workers", \.workers, WorkerSettings.table, standard: WorkerSettings(), naming: "name")
    readList(report, "forward", \.forward, ForwardSettings.table, standard: ForwardSettings(), naming: "name")
    readList(
      report, "consumptionRules", \.consumptionRules, ConsumptionRule.table, standard: ConsumptionRule(),
      naming: "its conditions and answer")
  }

  private mutating func readList<Entry>(
    _ report: SettingReport, _ key: String, _ list: WritableKeyPath<MillraceConfiguration, [Entry]>,
    _ table: SettingTable<Entry>, standard: Entry, naming: String
  ) {
    guard let value = report.deferred[key], value.content != .null else { return }
    guard case .list(let entries) = value.content else {
      problems.append(
        .init(
          "`\(key)` is \(value.kind)", at: "\(file):\(value.line)",
          remedy: "write a list of \(key), each with \(naming)"))
      return
    }
    for (index, content) in entries.enumerated() {
      var entry = standard
      let label = "\(key)[\(index)]."
      take(table.read(content, into: &entry, place: file, label: label), label: label)
      configuration[keyPath: list].append(entry)
    }
  }

  private mutating func take(_ report: SettingReport, label: String) {
    problems += report.problems
    for (name, line) in report.lines { sources[label + name] = .file(file, line: line) }
  }

  mutating func read(environment: [String: String]) {
    let variables = environment.filter {
      $0.key.hasPrefix(EnvironmentVariables.prefix) && $0.key != EnvironmentVariables.configurationFile
        && !EnvironmentVariables.isServiceLink($0.key, $0.value)
    }
    var unknown = Set(variables.keys)
    for setting in MillraceConfiguration.table.settings {
      let name = EnvironmentVariables.name(of: setting.path)
      guard let text = variables[name] else { continue }
      unknown.remove(name)
      set(setting, in: MillraceConfiguration.table, root: \.configuration, to: text, from: name, label: "")
    }
    readList(variables, &unknown, "apps", \.configuration.apps, AppSettings.table, standard: AppSettings())
    readList(
      variables, &unknown, "workers", \.configuration.workers, WorkerSettings.table, standard: WorkerSettings())
    readList(
      variables, &unknown, "forward", \.configuration.forward, ForwardSettings.table, standard: ForwardSettings())
    readList(
      variables, &unknown, "consumptionRules", \.configuration.consumptionRules, ConsumptionRule.table,
      standard: ConsumptionRule())
    let known = MillraceConfiguration.table.settings.map { EnvironmentVariables.name(of: $0.path) }
    for name in unknown.sorted() {
      let nearest = NearestName.of(name, among: known).map { "did you mean \($0)?" }
      problems.append(
        .init("unknown environment variable", at: name, remedy: nearest ?? "unset it, or see docs/configuration.md"))
    }
  }

  /// Reads `MILLRACE_APPS_<n>_…`; n is the index of an entry, or the next free index.
  private mutating func readList<Entry>(
    _ variables: [String: String], _ unknown: inout Set<String>, _ key: String,
    _ list: WritableKeyPath<Self, [Entry]>, _ table: SettingTable<Entry>, standard: Entry
  ) {
    for index in 0...self[keyPath: list].count + variables.count {
      for setting in table.settings {
        let name = EnvironmentVariables.name(of: [key, "\(index)"] + setting.path)
        guard let text = variables[name] else { continue }
        if index == self[keyPath: list].count { self[keyPath: list].append(standard) }
        guard index < self[keyPath: list].count else { continue }
        unknown.remove(name)
        set(
          setting, in: table, root: list.appending(path: \.[index]), to: text, from: name,
          label: "\(key)[\(index)].")
      }
    }
  }

  private mutating func set<Root>(
    _ setting: Setting<Root>, in table: SettingTable<Root>, root: WritableKeyPath<Self, Root>, to text: String,
    from name: String, label: String
  ) {
    do {
      let value = try EnvironmentVariables.value(text, of: setting.kind, name: name)
      var found: [MillraceError.Problem] = []
      table.set(setting, to: value, in: &self[keyPath: root], at: name, label: label, &found)
      problems += found
      sources[label + setting.name] = .environment(name)
    } catch {
      problems += error.problems
    }
  }
}
