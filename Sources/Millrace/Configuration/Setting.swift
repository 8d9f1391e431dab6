// One key of a YAML file, bound to the property it sets. A table of these drives everything that knows a file's keys:
// reading it, its environment variables, `--print-config` and the reference page.

internal import AppStore

struct Setting<Root: Sendable>: Sendable {
  /// The key's names from the top of the file.
  var path: [String]
  /// How the reference names the kind of value.
  var kind: String
  /// What the key means, as a sentence.
  var summary: String
  var write: @Sendable (inout Root, YAMLValue) throws(SettingFault) -> Void
  /// The present value; `nil` when there is none.
  var read: @Sendable (Root) -> YAMLValue.Content?

  var name: String { path.joined(separator: ".") }

  /// A key that always has a value.
  init<Value>(
    _ name: String, _ property: any WritableKeyPath<Root, Value> & Sendable, _ codec: SettingCodec<Value>,
    _ summary: String
  ) {
    self.path = name.split(separator: ".").map(String.init)
    self.kind = codec.kind
    self.summary = summary
    self.write = { root, value throws(SettingFault) in root[keyPath: property] = try codec.parse(value) }
    self.read = { codec.render($0[keyPath: property]) }
  }

  /// A key that may have none.
  init<Value>(
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

/// What reading a file against a table of settings gave.
struct SettingReport {
  var problems: [MillraceError.Problem] = []
  /// The line of each key that was set, by dotted name.
  var lines: [String: Int] = [:]
  /// What stands at the keys that the table leaves to its user.
  var deferred: [String: YAMLValue] = [:]
}

struct SettingTable<Root: Sendable>: Sendable {
  var settings: [Setting<Root>]
  /// Top-level keys that the user of the table reads itself.
  var deferred: [String] = []

  var names: [String] { settings.map(\.name) + deferred }

  /// What a key that is not known may have been meant to be: sections and keys, sections first.
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

  /// Sets the properties of `root` that `value`, the top of a file or of one entry of a list, speaks of.
  ///
  /// - Parameters:
  ///   - place: How an error names the value's file.
  ///   - label: Put before a key's name in errors, such as `apps[0].`.
  func read(_ value: YAMLValue, into root: inout Root, place: String, label: String = "") -> SettingReport {
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
        .init("\(name) is \(value.kind)", at: "\(place):\(value.line)", remedy: "write `name: value` lines below it"))
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
            remedy: nearest ?? "remove it, or see the reference for the keys there are"))
      }
    }
  }

  /// Sets one property, or says why not.
  func set(
    _ setting: Setting<Root>, to value: YAMLValue, in root: inout Root, at place: String, label: String = "",
    _ problems: inout [MillraceError.Problem]
  ) {
    do {
      try setting.write(&root, value)
    } catch {
      problems.append(
        .init("`\(label)\(setting.name)` has a value it cannot have", at: place, remedy: "give it \(error.expected)"))
    }
  }
}
