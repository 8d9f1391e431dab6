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
  ///   - forms: The worker types that the process knows. The settings of other workers are not checked.
  /// - Throws: ``MillraceError`` with every problem: unknown keys, invalid values, violated rules between keys.
  package static func load(
    path: String?, environment: [String: String], workers forms: [WorkerSettingsForm] = []
  ) throws(MillraceError) -> Self {
    let path = path ?? environment[EnvironmentVariables.configurationFile]
    let text = if let path { try Files.readText(path) } else { "" }
    var loaded = try load(text: text, file: path ?? "(no file)", environment: environment, workers: forms)
    loaded.configuration.file = path
    return loaded
  }

  /// Reads `text` as the content of `file`; otherwise like ``load(path:environment:workers:)``.
  package static func load(
    text: String, file: String = "millrace.yaml", environment: [String: String] = [:],
    workers forms: [WorkerSettingsForm] = []
  ) throws(MillraceError) -> Self {
    var reader = ConfigurationReader(file: file)
    reader.read(try YAMLValue(parsing: text, file: file, area: .configuration))
    reader.read(environment: environment)
    var problems = reader.problems
    if problems.isEmpty {
      let sources = reader.sources
      problems = reader.configuration.brokenRelations { sources[$0] ?? .standard }
      for name in reader.configuration.workerNames {
        problems += forms.first { $0.covers(name) }?.problems(name, reader.configuration) ?? []
      }
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
    if let workers = report.deferred["workers"] { readWorkers(workers, from: file) }
    if let webhooks = report.deferred["webhooks"] { readWebhooks(webhooks, from: file) }
  }

  /// Reads the section `webhooks`: `webhooks.<name>` is short for `workers.webhook-<name>.settings`.
  private mutating func readWebhooks(_ value: YAMLValue, from source: String) {
    func place(_ line: Int) -> String { line > 0 ? "\(source):\(line)" : source }
    guard case .map(let members) = value.content else {
      guard value.content != .null else { return }
      problems.append(
        .init(
          "`webhooks` is \(value.kind)", at: place(value.line),
          remedy: "write a section for each webhook, such as `crm: {url: …, secretFile: …}`"))
      return
    }
    for member in members {
      let name = WorkerEntry.webhookPrefix + member.key
      guard WorkerEntry.isName(name), !member.key.isEmpty else {
        problems.append(
          .init(
            "`\(member.key)` is not a webhook's name", at: place(member.line),
            remedy: "use 1 to 32 lower-case letters, digits and hyphens, and not the word settings"))
        continue
      }
      configuration.workers[name, default: WorkerEntry()].settings.sections.append(
        .init(value: member.value, source: source, isFile: source == file))
    }
  }

  /// Reads the section `workers`: one section for each worker, by name.
  private mutating func readWorkers(_ value: YAMLValue, from source: String) {
    func place(_ line: Int) -> String { line > 0 ? "\(source):\(line)" : source }
    guard case .map(let members) = value.content else {
      guard value.content != .null else { return }
      problems.append(
        .init(
          "`workers` is \(value.kind)", at: place(value.line),
          remedy: "write a section for each worker, such as `refunds: {}`"))
      return
    }
    for member in members {
      guard WorkerEntry.isName(member.key) else {
        problems.append(
          .init(
            "`\(member.key)` is not a worker's name", at: place(member.line),
            remedy: """
              use 1 to 40 lower-case letters, digits and hyphens, starting with a letter, and not the word settings \
              after a hyphen
              """))
        continue
      }
      var entry = configuration.workers[member.key] ?? WorkerEntry()
      let label = "workers.\(member.key)."
      let report = WorkerEntry.table.read(member.value, into: &entry, place: source, label: label)
      take(report, label: label, from: source)
      if let section = report.deferred["settings"], section.content != .null {
        entry.settings.sections.append(.init(value: section, source: source, isFile: source == file))
      }
      configuration.workers[member.key] = entry
    }
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

  private mutating func take(_ report: SettingReport, label: String, from source: String? = nil) {
    problems += report.problems
    let isFile = source == nil || source == file
    for (name, line) in report.lines {
      sources[label + name] = isFile ? .file(file, line: line) : .environment(source ?? "")
    }
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
      var changed = configuration
      set(setting, in: MillraceConfiguration.table, of: &changed, to: text, from: name, label: "")
      configuration = changed
    }
    readList(variables, &unknown, "apps", \.configuration.apps, AppSettings.table, standard: AppSettings())
    readWorkers(variables, &unknown)
    let known = MillraceConfiguration.table.settings.map { EnvironmentVariables.name(of: $0.path) }
    for name in unknown.sorted() { problems.append(EnvironmentVariables.unknown(name, known: known)) }
  }

  /// Reads `MILLRACE_WORKERS` and `MILLRACE_WEBHOOKS`, sections in YAML's flow style, and
  /// `MILLRACE_WORKERS_<NAME>_…`.
  private mutating func readWorkers(_ variables: [String: String], _ unknown: inout Set<String>) {
    let all = EnvironmentVariables.name(of: ["workers"])
    if let text = variables[all] {
      unknown.remove(all)
      do {
        readWorkers(try EnvironmentVariables.value(text, of: "map", name: all), from: all)
      } catch {
        problems += error.problems
      }
    }
    let webhooks = EnvironmentVariables.name(of: ["webhooks"])
    if let text = variables[webhooks] {
      unknown.remove(webhooks)
      do {
        readWebhooks(try EnvironmentVariables.value(text, of: "map", name: webhooks), from: webhooks)
      } catch {
        problems += error.problems
      }
    }
    for (variable, text) in variables.sorted(by: { $0.key < $1.key }) {
      guard let (name, setting) = EnvironmentVariables.worker(of: variable) else { continue }
      unknown.remove(variable)
      var entry = configuration.workers[name] ?? WorkerEntry()
      if let setting {
        set(setting, in: WorkerEntry.table, of: &entry, to: text, from: variable, label: "workers.\(name).")
      } else {
        entry.settings.variables[variable] = text
      }
      configuration.workers[name] = entry
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
        var entry = self[keyPath: list][index]
        set(setting, in: table, of: &entry, to: text, from: name, label: "\(key)[\(index)].")
        self[keyPath: list][index] = entry
      }
    }
  }

  private mutating func set<Root>(
    _ setting: Setting<Root>, in table: SettingTable<Root>, of root: inout Root, to text: String, from name: String,
    label: String
  ) {
    do {
      let value = try EnvironmentVariables.value(text, of: setting.kind, name: name)
      table.set(setting, to: value, in: &root, from: name, line: nil, label: label, &problems)
      sources[label + setting.name] = .environment(name)
    } catch {
      problems += error.problems
    }
  }
}
