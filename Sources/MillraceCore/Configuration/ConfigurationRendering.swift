// `--print-config`: the effective configuration as valid YAML, each value with its source, secrets masked.

extension LoadedConfiguration {
  /// A line of YAML and a comment at its end.
  struct Line {
    var text: String
    var note: String?
  }

  /// Returns the whole configuration as YAML; a comment on every line names the source of its value.
  ///
  /// The values of secret librdkafka properties are masked. Other secrets are in files, and only their paths appear.
  ///
  /// The policy of a worker is printed as it is in effect, if its type is known.
  ///
  /// - Parameters:
  ///   - forms: The worker types that the process knows. The settings of other workers are left out, because only their
  ///     types know which of them are secret.
  ///   - withUnset: Whether keys without a value are printed, as comments.
  package func rendered(workers forms: [WorkerSettingsForm] = [], withUnset: Bool = true) -> String {
    var lines: [Line] = []
    let settings = MillraceConfiguration.table.settings
    var order: [String] = []
    for setting in settings where !order.contains(setting.path[0]) {
      order.append(setting.path[0])
    }
    order.insert(contentsOf: ["apps", "workers"], at: order.firstIndex(of: "appStore") ?? order.endIndex)
    for section in order {
      switch section {
      case "apps": lines += appLines(withUnset)
      case "workers": lines += workerLines(forms, withUnset)
      default:
        lines += Self.lines(
          settings.filter { $0.path[0] == section }, of: configuration, sources: sources, withUnset: withUnset)
      }
    }
    let width = min(60, lines.filter { $0.note != nil }.map(\.text.count).max() ?? 0)
    return lines.map { line in
      guard let note = line.note else { return line.text + "\n" }
      return line.text + String(repeating: " ", count: max(0, width - line.text.count)) + "  # \(note)\n"
    }.joined()
  }

  /// Returns the lines of settings.
  /// - Parameter label: A prefix of the keys' names in `sources`, such as `apps[0].`.
  static func lines<Root>(
    _ settings: [Setting<Root>], of root: Root, sources: [String: ConfigurationSource], label: String = "",
    indent: Int = 0, withUnset: Bool
  ) -> [Line] {
    var lines: [Line] = []
    var open: [String] = []
    for setting in settings where withUnset || setting.read(root) != nil {
      let parents = Array(setting.path.dropLast())
      let shared = zip(open, parents).prefix { $0 == $1 }.count
      for (depth, name) in parents.enumerated().dropFirst(shared) {
        lines.append(Line(text: margin(indent + depth) + name + ":"))
      }
      open = parents
      let name = setting.path[setting.path.count - 1]
      let source = sources[label + setting.name] ?? .standard
      if let value = setting.read(root) {
        lines.append(
          Line(text: margin(indent + parents.count) + "\(name): \(value.flowText)", note: source.description))
      } else {
        lines.append(Line(text: margin(indent + parents.count) + "# \(name):", note: "unset"))
      }
    }
    return lines
  }

  private func appLines(_ withUnset: Bool) -> [Line] {
    guard !configuration.apps.isEmpty else {
      return [Line(text: "apps: []", note: ConfigurationSource.standard.description)]
    }
    return [Line(text: "apps:")]
      + configuration.apps.enumerated().flatMap { index, app in
        var lines = Self.lines(
          AppSettings.table.settings, of: app, sources: sources, label: "apps[\(index)].", indent: 2,
          withUnset: withUnset)
        if let first = lines.first { lines[0].text = "  - " + first.text.dropFirst(4) }
        return lines
      }
  }

  private func workerLines(_ forms: [WorkerSettingsForm], _ withUnset: Bool) -> [Line] {
    guard !configuration.workers.isEmpty else {
      return [Line(text: "workers: {}", note: ConfigurationSource.standard.description)]
    }
    var lines = [Line(text: "workers:")]
    for (name, entry) in configuration.workers.sorted(by: { $0.key < $1.key }) {
      lines.append(Line(text: Self.margin(1) + "\(name):"))
      let policy = forms.lazy.compactMap { $0.policy(name, configuration) }.first
      lines += Self.lines(
        WorkerEntry.table.settings, of: policy.map { entry.filled(from: $0) } ?? entry, sources: sources,
        label: "workers.\(name).", indent: 2, withUnset: withUnset)
      if let form = forms.first(where: { $0.covers(name) }) {
        let settings = form.lines(name, self, withUnset)
        if !settings.isEmpty { lines += [Line(text: Self.margin(2) + "settings:")] + settings }
      } else if entry.settings != UnreadSettings() {
        lines.append(Line(text: Self.margin(2) + "# settings:", note: "printed by the worker's process"))
      }
    }
    return lines
  }

  private static func margin(_ depth: Int) -> String { String(repeating: "  ", count: depth) }
}
