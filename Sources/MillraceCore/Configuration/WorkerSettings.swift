// `workers.<name>.settings`: what a worker type declares for itself. This module keeps the section as it was written;
// the worker's type reads it.

internal import AppStore

/// The settings of a worker type: the section `settings` of its entry under `workers`.
///
/// ```swift
/// struct WinbackSettings: WorkerSettings {
///   var delay = Duration.seconds(3 * 86_400)
///
///   static let table = SettingTable<Self>([
///     Setting("delay", \.delay, .duration(.seconds(60) ... .seconds(30 * 86_400)), "How long to wait after the end.")
///   ])
/// }
/// ```
///
/// An unknown key is an error that names the nearest known one. Every key is also an environment variable:
/// `workers.winback.settings.delay` is `MILLRACE_WORKERS_WINBACK_SETTINGS_DELAY`.
public protocol WorkerSettings: Sendable {
  /// The keys.
  static var table: SettingTable<Self> { get }

  /// Creates the settings of a worker whose entry has no `settings`.
  init()

  /// Returns the rules between the keys that these settings violate. The place of a problem is the name of a key of
  /// ``table``.
  ///
  /// - Parameter configuration: The configuration of the process.
  func problems(in configuration: MillraceConfiguration) -> [MillraceError.Problem]
}

extension WorkerSettings {
  /// The default: no rules between the keys.
  public func problems(in configuration: MillraceConfiguration) -> [MillraceError.Problem] { [] }
}

/// The settings of a worker type that declares none.
public struct NoSettings: WorkerSettings {
  /// No keys.
  public static let table = SettingTable<Self>([])

  /// Creates the settings.
  public init() {}
}

/// The settings of a worker before its type reads them.
package struct UnreadSettings: Sendable, Hashable {
  /// A section with settings.
  package struct Section: Sendable, Hashable {
    /// The content of the section.
    package var value: YAMLValue
    /// The file, or the environment variable `MILLRACE_WORKERS`.
    package var source: String
    /// Whether the source is the file.
    package var isFile: Bool
  }

  /// The sections. If two have the same key, the later section counts.
  package var sections: [Section] = []
  /// The environment variables of its keys, which override the section.
  package var variables: [String: String] = [:]

  /// No settings.
  package init() {}

  /// Reads the settings of the worker `name`.
  func read<Settings: WorkerSettings>(
    as type: Settings.Type, of name: String, in configuration: MillraceConfiguration
  ) -> ReadSettings<Settings> {
    let label = "workers.\(name).settings."
    var value = Settings()
    var problems: [MillraceError.Problem] = []
    var sources: [String: ConfigurationSource] = [:]
    for section in sections {
      let report = Settings.table.read(section.value, into: &value, place: section.source, label: label)
      problems += report.problems
      for (name, line) in report.lines {
        sources[name] = section.isFile ? .file(section.source, line: line) : .environment(section.source)
      }
    }
    var unknown = Set(variables.keys)
    let variable = { EnvironmentVariables.name(of: ["workers", name, "settings"] + $0) }
    for setting in Settings.table.settings {
      let variable = variable(setting.path)
      guard let text = variables[variable] else { continue }
      unknown.remove(variable)
      sources[setting.name] = .environment(variable)
      do {
        let content = try EnvironmentVariables.value(text, of: setting.kind, name: variable)
        Settings.table.set(
          setting, to: content, in: &value, from: variable, line: nil, label: label, &problems)
      } catch {
        problems += error.problems
      }
    }
    let known = Settings.table.settings.map { variable($0.path) }
    for name in unknown.sorted() { problems.append(EnvironmentVariables.unknown(name, known: known)) }
    if problems.isEmpty {
      problems = value.problems(in: configuration).map { problem in
        let key = problem.place ?? ""
        let source = sources[key] ?? .standard
        return .init(problem.what, at: "\(label)\(key) (\(source))", remedy: problem.remedy)
      }
    }
    return ReadSettings(value: value, sources: sources, problems: problems)
  }
}

/// The settings of one worker as its type has read them.
struct ReadSettings<Settings: WorkerSettings> {
  var value: Settings
  /// Sources by the name of the key. Keys with their default are absent.
  var sources: [String: ConfigurationSource]
  var problems: [MillraceError.Problem]
}

extension MillraceConfiguration {
  /// The names of the workers that have an entry, sorted.
  public var workerNames: [String] { workers.keys.sorted() }

  /// Reads `workers.<name>.settings`.
  ///
  /// - Throws: ``MillraceError`` with every problem: unknown keys, invalid values, violated rules between keys.
  public func settings<Settings: WorkerSettings>(
    _ type: Settings.Type = Settings.self, of name: String
  ) throws(MillraceError) -> Settings {
    let read = (workers[name]?.settings ?? UnreadSettings()).read(as: type, of: name, in: self)
    guard read.problems.isEmpty else { throw MillraceError(.configuration, read.problems) }
    return read.value
  }

  /// Sets `workers.<name>.settings` from YAML, for tests.
  ///
  /// - Throws: ``MillraceError`` if the text is not YAML. Problems of its content appear when the worker reads it.
  package mutating func setSettings(_ yaml: String, of name: String) throws(MillraceError) {
    var unread = UnreadSettings()
    let source = "settings of \(name)"
    let value = try YAMLValue(parsing: yaml, file: source, area: .configuration)
    unread.sections = [.init(value: value, source: source, isFile: true)]
    workers[name, default: WorkerEntry()].settings = unread
  }
}

/// The settings of one worker type, for the checks, `--print-config` and the reference of a process that knows it.
package struct WorkerSettingsForm: Sendable {
  /// The worker's name as the reference writes it, such as `consumption` or `forward-<receiver>`.
  let name: String
  /// Whether a worker of this name is of this type.
  let covers: @Sendable (String) -> Bool
  let problems: @Sendable (_ name: String, MillraceConfiguration) -> [MillraceError.Problem]
  let lines: @Sendable (_ name: String, LoadedConfiguration, _ withUnset: Bool) -> [LoadedConfiguration.Line]
  /// The files that the settings of a worker name.
  let files: @Sendable (_ name: String, MillraceConfiguration) -> [(key: String, path: String)]
  /// The rows of the reference.
  let rows: [ConfigurationReference.Row]
  /// The policy of the type, for the reference.
  let standard: WorkerPolicy
  /// The policy of a worker without the overrides of its entry; nil for a worker of another type.
  let policy: @Sendable (_ name: String, MillraceConfiguration) -> WorkerPolicy?

  /// Creates the form of a type.
  package init<Settings: WorkerSettings>(
    _ type: Settings.Type, named name: String, standard: WorkerPolicy = WorkerPolicy(),
    policy: @escaping @Sendable (_ name: String, MillraceConfiguration) -> WorkerPolicy? = { _, _ in nil },
    covers: @escaping @Sendable (String) -> Bool
  ) {
    (self.standard, self.policy) = (standard, policy)
    self.name = name
    self.covers = covers
    problems = { name, configuration in
      // A process may have the entry of another worker without its settings.
      guard let entry = configuration.workers[name], entry.settings != UnreadSettings() else { return [] }
      return entry.settings.read(as: type, of: name, in: configuration).problems
    }
    lines = { name, loaded, withUnset in
      let unread = loaded.configuration.workers[name]?.settings ?? UnreadSettings()
      let read = unread.read(as: type, of: name, in: loaded.configuration)
      return LoadedConfiguration.lines(
        Settings.table.settings, of: read.value, sources: read.sources, indent: 3, withUnset: withUnset)
    }
    files = { name, configuration in
      let read = (configuration.workers[name]?.settings ?? UnreadSettings()).read(as: type, of: name, in: configuration)
      return Settings.table.files(of: read.value, label: "workers.\(name).settings.")
    }
    rows = ConfigurationReference.rows(
      Settings.table, of: Settings(), variable: { ["workers", "<name>", "settings"] + $0 })
  }
}
