// One key of a YAML file, bound to the property it sets. A table of settings defines how a file is read, its
// environment variables, `--print-config` and the reference page.

internal import AppStore

/// One key of a table of settings.
public struct Setting<Root: Sendable>: Sendable {
  /// The place of a value, for errors about its content.
  package struct Place {
    /// The file or the environment variable.
    package var source: String
    /// The key's full name, as errors write it.
    package var name: String
  }

  /// A line of the reference.
  package struct Row: Sendable {
    package var name: String
    package var kind: String
    package var standard: YAMLValue.Content?
    package var summary: String
  }

  /// The path of the key from the top of the file.
  package var path: [String]
  /// The path that names the environment variable, if it is not ``path``.
  package var variablePath: [String]?
  /// The kind of value, as the reference names it.
  package var kind: String
  /// The meaning of the key, as a sentence.
  package var summary: String
  package var write: @Sendable (inout Root, YAMLValue, Place) throws(SettingFault) -> Void
  /// Returns the current value; `nil` if there is none.
  package var read: @Sendable (Root) -> YAMLValue.Content?

  /// The keys of each entry, if the value is a list of sections.
  package var entryRows: [Row] = []

  package var name: String { path.joined(separator: ".") }
  /// The path that names the environment variable.
  package var variable: [String] { variablePath ?? path }

  /// Returns the key with an environment variable that has another name than the key, because that name is taken.
  package func named(_ variable: [String]) -> Self {
    var setting = self
    setting.variablePath = variable
    return setting
  }

  /// Creates a key that always has a value.
  ///
  /// - Parameters:
  ///   - name: The key; dots separate the sections that contain it.
  ///   - property: The property that it sets.
  ///   - codec: The values that it accepts.
  ///   - summary: Its meaning, as a sentence for the reference.
  public init<Value>(
    _ name: String, _ property: any WritableKeyPath<Root, Value> & Sendable, _ codec: SettingCodec<Value>,
    _ summary: String
  ) {
    self.path = name.split(separator: ".").map(String.init)
    self.kind = codec.kind
    self.summary = summary
    self.write = { root, value, _ throws(SettingFault) in root[keyPath: property] = try codec.parse(value) }
    self.read = { codec.render($0[keyPath: property]) }
  }

  /// Creates a key with an optional value; otherwise like the initializer for a key that always has one.
  public init<Value>(
    _ name: String, _ property: any WritableKeyPath<Root, Value?> & Sendable, _ codec: SettingCodec<Value>,
    _ summary: String
  ) {
    self.path = name.split(separator: ".").map(String.init)
    self.kind = codec.kind
    self.summary = summary
    self.write = { root, value, _ throws(SettingFault) in root[keyPath: property] = try codec.parse(value) }
    self.read = { $0[keyPath: property].map(codec.render) }
  }

  /// Creates a key whose value is a list of sections with keys of their own.
  ///
  /// - Parameters:
  ///   - table: The keys of one section.
  ///   - standard: A section without keys.
  public init<Entry>(
    _ name: String, _ property: any WritableKeyPath<Root, [Entry]> & Sendable, entries table: SettingTable<Entry>,
    standard: Entry, _ summary: String
  ) {
    self.path = name.split(separator: ".").map(String.init)
    self.kind = "list of sections"
    self.summary = summary
    self.entryRows = table.settings.map { setting in
      Row(
        name: "\(name)[].\(setting.name)", kind: setting.kind, standard: setting.read(standard),
        summary: setting.summary)
    }
    self.write = { root, value, place throws(SettingFault) in
      guard case .list(let contents) = value.content else { throw SettingFault("a list of sections") }
      var entries: [Entry] = []
      var problems: [MillraceError.Problem] = []
      for (index, content) in contents.enumerated() {
        // Such a section would have the default of every key, and might apply to everything.
        if content.content == .null {
          problems.append(
            .init(
              "`\(place.name)[\(index)]` is empty",
              at: content.line > 0 ? "\(place.source):\(content.line)" : place.source,
              remedy: "write its keys, or remove the line"))
          continue
        }
        var entry = standard
        problems +=
          table.read(content, into: &entry, place: place.source, label: "\(place.name)[\(index)].").problems
        entries.append(entry)
      }
      guard problems.isEmpty else { throw SettingFault("a list of sections with the keys of the reference", problems) }
      root[keyPath: property] = entries
    }
    self.read = { root in .list(root[keyPath: property].map { YAMLValue(table.content(of: $0)) }) }
  }
}

/// The result of reading a file with a table of settings.
package struct SettingReport {
  package var problems: [MillraceError.Problem] = []
  /// The line of each key that was set, by dotted name.
  package var lines: [String: Int] = [:]
  /// The values of the keys that the table leaves to its user.
  package var deferred: [String: YAMLValue] = [:]
}

/// The keys of a section: how it is read, its environment variables, its part of `--print-config` and its reference.
public struct SettingTable<Root: Sendable>: Sendable {
  package var settings: [Setting<Root>]
  /// Top-level keys that the user of the table reads itself.
  package var deferred: [String] = []

  /// Creates a table.
  public init(_ settings: [Setting<Root>]) { self.settings = settings }

  package init(settings: [Setting<Root>], deferred: [String] = []) {
    self.settings = settings
    self.deferred = deferred
  }

  package var names: [String] { settings.map(\.name) + deferred }

  /// The names to suggest for an unknown key: deferred keys, sections and keys.
  private var candidates: [String] {
    var candidates = deferred
    for setting in settings {
      for depth in setting.path.indices {
        let name = setting.path[...depth].joined(separator: ".")
        if !candidates.contains(name) { candidates.append(name) }
      }
    }
    return candidates
  }

  /// Sets the properties of `root` from `value`, the top level of a file or one entry of a list.
  ///
  /// - Parameters:
  ///   - place: The name of the file in errors.
  ///   - label: A prefix of the key's name in errors, such as `apps[0].`.
  package func read(_ value: YAMLValue, into root: inout Root, place: String, label: String = "") -> SettingReport {
    var report = SettingReport()
    read(value, at: [], into: &root, place: place, label: label, report: &report)
    return report
  }

  private func read(
    _ value: YAMLValue, at prefix: [String], into root: inout Root, place: String, label: String,
    report: inout SettingReport
  ) {
    guard case .map(let members) = value.content else {
      if value.content == .null { return }
      let path = label.split(separator: ".").map(String.init) + prefix
      let name = path.isEmpty ? "the file" : "`\(path.joined(separator: "."))`"
      report.problems.append(
        .init("\(name) is \(value.kind)", at: "\(place):\(value.line)", remedy: "write `name: value` lines instead"))
      return
    }
    for member in members {
      let path = prefix + [member.key]
      let name = path.joined(separator: ".")
      if prefix.isEmpty, deferred.contains(member.key) {
        report.deferred[member.key] = member.value
      } else if let setting = settings.first(where: { $0.path == path }) {
        guard member.value.content != .null else { continue }
        set(
          setting, to: member.value, in: &root, from: place, line: member.line, label: label, &report.problems)
        report.lines[name] = member.line
      } else if settings.contains(where: { $0.path.starts(with: path) }) {
        read(member.value, at: path, into: &root, place: place, label: label, report: &report)
      } else {
        let nearest = NearestName.of(name, among: candidates).map { "did you mean `\(label)\($0)`?" }
        report.problems.append(
          .init(
            "unknown key `\(label)\(name)`", at: "\(place):\(member.line)",
            remedy: nearest ?? "remove it, or see the reference for the known keys"))
      }
    }
  }

  /// Sets one property, or appends problems.
  ///
  /// - Parameters:
  ///   - source: The file or the environment variable of the value.
  ///   - line: The line in the file; nil for a variable.
  package func set(
    _ setting: Setting<Root>, to value: YAMLValue, in root: inout Root, from source: String, line: Int?,
    label: String = "", _ problems: inout [MillraceError.Problem]
  ) {
    let name = label + setting.name
    do {
      try setting.write(&root, value, .init(source: source, name: name))
    } catch {
      let place = line.map { "\(source):\($0)" } ?? source
      let value = error.found.flatMap { Self.isPrintable($0) ? "the invalid value \($0.debugDescription)" : nil }
      problems +=
        error.problems.isEmpty
        ? [.init("`\(name)` has \(value ?? "an invalid value")", at: place, remedy: "set it to \(error.expected)")]
        : error.problems
    }
  }

  /// Whether an error may repeat a value. A longer one may be a private key, whose lines have 64 characters.
  private static func isPrintable(_ value: String) -> Bool {
    value.utf8.count < 64 && !value.contains("-----BEGIN")
  }

  /// Returns the values of all keys as a section, without those that are unset.
  package func content(of root: Root) -> YAMLValue.Content {
    var section = YAMLValue.Content.map([])
    for setting in settings {
      if let value = setting.read(root) { section.set(value, at: setting.path[...]) }
    }
    return section
  }
}

extension YAMLValue.Content {
  /// Sets a value in a section at a path of keys.
  fileprivate mutating func set(_ value: Self, at path: ArraySlice<String>) {
    guard let key = path.first else {
      self = value
      return
    }
    var members: [YAMLValue.Member] = []
    if case .map(let existing) = self { members = existing }
    let index = members.firstIndex { $0.key == key }
    var content = index.map { members[$0].value.content } ?? .map([])
    content.set(value, at: path.dropFirst())
    let member = YAMLValue.Member(key: key, line: 0, value: YAMLValue(content))
    if let index { members[index] = member } else { members.append(member) }
    self = .map(members)
  }
}
