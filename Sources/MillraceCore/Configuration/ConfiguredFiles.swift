// The files that a configuration names, for the checks of `millrace doctor`. The tables of keys say which values are
// paths, so a new key is included.

extension SettingTable {
  /// Returns the files that a section names.
  /// - Parameter label: A prefix of the keys.
  func files(of root: Root, label: String) -> [(key: String, path: String)] {
    settings.flatMap { setting -> [(key: String, path: String)] in
      let key = label + setting.name
      switch setting.read(root) {
      case .scalar(let path)? where setting.kind == "path": return [(key, path)]
      case .list(let values)? where setting.kind == "list of path":
        return values.compactMap { if case .scalar(let path) = $0.content { (key, path) } else { nil } }
      case .map(let members)? where setting.name.hasSuffix("Files"):
        return members.compactMap { member in
          if case .scalar(let path) = member.value.content { ("\(key).\(member.key)", path) } else { nil }
        }
      default: return []
      }
    }
  }
}

extension MillraceConfiguration {
  /// Returns the files that the configuration names, without the directory of topic files.
  /// - Parameter forms: The worker types whose settings are read.
  package func files(workers forms: [WorkerSettingsForm]) -> [(key: String, path: String)] {
    var files = Self.table.files(of: self, label: "").filter { $0.key != "topics.directory" }
    for name in ["ssl.certificate.location", "ssl.key.location", "ssl.keystore.location"] {
      if let path = kafka.properties[name] { files.append(("kafka.properties.\(name)", path)) }
    }
    for (index, app) in apps.enumerated() { files += AppSettings.table.files(of: app, label: "apps[\(index)].") }
    for (name, entry) in workers.sorted(by: { $0.key < $1.key }) {
      files += WorkerEntry.table.files(of: entry, label: "workers.\(name).")
      files += forms.first { $0.covers(name) }?.files(name, self) ?? []
    }
    return files
  }
}
