// One key of a YAML file, bound to the property it sets. A table of settings defines how a file is read, its
// environment variables, `--print-config` and the reference page.

internal import AppStore

package struct Setting<Root: Sendable>: Sendable {
  /// The path of the key from the top of the file.
  package var path: [String]
  /// The kind of value, as the reference names it.
  package var kind: String
  /// The meaning of the key, as a sentence.
  package var summary: String
  package var write: @Sendable (inout Root, YAMLValue) throws(SettingFault) -> Void
  /// Returns the current value; `nil` if there is none.
  package var read: @Sendable (Root) -> YAMLValue.Content?

  package var name: String { path.joined(separator: ".") }

  /// Creates a key that always has a value.
  package init<Value>(
    _ name: String, _ property: any WritableKeyPath<Root, Value> & Sendable, _ codec: SettingCodec<Value>,
    _ summary: String
  ) {
    self.path = name.split(separator: ".").map(String.init)
    self.kind = codec.kind
    self.summary = summary
    self.write = { root, value throws(SettingFault) in root[keyPath: property] = try codec.parse(value) }
    self.read = { codec.render($0[keyPath: property]) }
  }

  /// Creates a key with an optional value.
  package init<Value>(
    _ name: String, _ property: any WritableKeyPath<Root, Value?> & Sendable, _ codec: SettingCodec<Value>,
    _ summary: String
  ) {
    self.path = name.split(separator: ".").map(String.init)
    self.kind = codec.kind
    self.summary = summary
    self.write = { root, value throws(SettingFault) in root[keyPath: property] = try codec.parse(value) }
    self.read = { $0[keyPath: property].map(codec.render) }
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

package struct SettingTable<Root: Sendable>: Sendable {
  package var settings: [Setting<Root>]
  /// Top-level keys that the user of the table reads itself.
  package var deferred: [String] = []

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
      let name = prefix.isEmpty ? "the file" : "`\(label)\(prefix.joined(separator: "."))`"
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
        set(setting, to: member.value, in: &root, at: "\(place):\(member.line)", label: label, &report.problems)
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

  /// Sets one property, or appends a problem.
  package func set(
    _ setting: Setting<Root>, to value: YAMLValue, in root: inout Root, at place: String, label: String = "",
    _ problems: inout [MillraceError.Problem]
  ) {
    do {
      try setting.write(&root, value)
    } catch {
      problems.append(
        .init("`\(label)\(setting.name)` has an invalid value", at: place, remedy: "set it to \(error.expected)"))
    }
  }
}
