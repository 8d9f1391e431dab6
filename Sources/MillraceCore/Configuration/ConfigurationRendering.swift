// `--print-config`: the effective configuration as valid YAML, each value with its source, secrets masked.

extension LoadedConfiguration {
  /// Returns the whole configuration as YAML; a comment on every line names the source of its value.
  ///
  /// The values of secret librdkafka properties are masked. Other secrets are in files, and only their paths appear.
  public func rendered() -> String {
    var lines: [(text: String, note: String?)] = []
    let settings = MillraceConfiguration.table.settings
    var order: [String] = []
    for setting in settings where !order.contains(setting.path[0]) {
      order.append(setting.path[0])
    }
    order.insert(
      contentsOf: ["apps", "workers", "forward", "consumptionRules"],
      at: order.firstIndex(of: "appStore") ?? order.endIndex)
    for section in order {
      switch section {
      case "apps": appendList("apps", configuration.apps, AppSettings.table, &lines)
      case "workers": appendList("workers", configuration.workers, WorkerSettings.table, &lines)
      case "forward": appendList("forward", configuration.forward, ForwardSettings.table, &lines)
      case "consumptionRules":
        appendList("consumptionRules", configuration.consumptionRules, ConsumptionRule.table, &lines)
      default: append(settings.filter { $0.path[0] == section }, of: configuration, indent: 0, label: "", &lines)
      }
    }
    let width = min(60, lines.filter { $0.note != nil }.map(\.text.count).max() ?? 0)
    return lines.map { line in
      guard let note = line.note else { return line.text + "\n" }
      return line.text + String(repeating: " ", count: max(0, width - line.text.count)) + "  # \(note)\n"
    }.joined()
  }

  private func append<Root>(
    _ settings: [Setting<Root>], of root: Root, indent: Int, label: String,
    _ lines: inout [(text: String, note: String?)]
  ) {
    var open: [String] = []
    for setting in settings {
      let parents = Array(setting.path.dropLast())
      let shared = zip(open, parents).prefix { $0 == $1 }.count
      for (depth, name) in parents.enumerated().dropFirst(shared) {
        lines.append((margin(indent + depth) + name + ":", nil))
      }
      open = parents
      let name = setting.path[setting.path.count - 1]
      let source = sources[label + setting.name] ?? .standard
      if let value = setting.read(root) {
        lines.append((margin(indent + parents.count) + "\(name): \(value.flowText)", source.description))
      } else {
        lines.append((margin(indent + parents.count) + "# \(name):", "unset"))
      }
    }
  }

  private func appendList<Entry>(
    _ key: String, _ entries: [Entry], _ table: SettingTable<Entry>, _ lines: inout [(text: String, note: String?)]
  ) {
    guard !entries.isEmpty else {
      lines.append(("\(key): []", ConfigurationSource.standard.description))
      return
    }
    lines.append(("\(key):", nil))
    for (index, entry) in entries.enumerated() {
      let start = lines.count
      append(table.settings, of: entry, indent: 2, label: "\(key)[\(index)].", &lines)
      lines[start].text = "  - " + lines[start].text.dropFirst(4)
    }
  }

  private func margin(_ depth: Int) -> String { String(repeating: "  ", count: depth) }
}
