// `docs/configuration.md`, generated from the list of keys. A test compares the committed page with this text.

extension MillraceConfiguration {
  /// The reference page, as Markdown.
  /// - Parameter forms: The worker types whose settings it describes.
  package static func reference(workers forms: [WorkerSettingsForm]) -> String {
    let defaults = MillraceConfiguration()
    var page = """
      # Configuration

      One YAML file configures all processes: `--config millrace.yaml`, or `MILLRACE_CONFIG`. Every key is also an
      environment variable, which overrides the file. `millrace config` prints the values and the effective settings of each
      worker, with their sources; `--all` also prints the keys without a value. Each process prints the same with
      `--print-config`. An unknown key or variable is an error that names the nearest known one.

      - Durations are whole numbers with a unit: `500ms`, `10s`, `5m`, `1h`, `8d`. Sizes: `256KiB`, `2MiB`, or bytes.
      - In a variable, write lists and maps as `[a, b]` and `{a: b}`; a list may also be comma-separated.
      - Secrets are read from files; the configuration holds only their paths. A newline at a file's end is ignored.
      - Kubernetes sets variables such as `MILLRACE_INGRESS_PORT=tcp://…` for a Service of that name. Millrace
        recognises and ignores them.

      """
    var section = ""
    for setting in table.settings {
      if setting.path[0] != section {
        section = setting.path[0]
        if section == "appStore" {
          page += ConfigurationReference.apps() + ConfigurationReference.workers(forms)
        }
        page += ConfigurationReference.heading(section)
      }
      page += ConfigurationReference.row(.init(setting, variable: setting.path, of: defaults))
    }
    return page
  }
}

/// The parts of the page.
package enum ConfigurationReference {
  struct Row: Sendable {
    var name: String
    var variable: String
    var kind: String
    var standard: YAMLValue.Content?
    var summary: String

    init<Root>(_ setting: Setting<Root>, variable: [String], of defaults: Root) {
      name = setting.name
      self.variable = EnvironmentVariables.name(of: variable)
      kind = setting.kind
      standard = setting.read(defaults)
      summary = setting.summary
    }

    init<Root>(_ row: Setting<Root>.Row) {
      (name, variable, kind, standard, summary) = (row.name, "", row.kind, row.standard, row.summary)
    }
  }

  /// Returns the rows of a table, with the keys of the entries of its lists.
  static func rows<Root>(
    _ table: SettingTable<Root>, of standard: Root, variable: ([String]) -> [String]
  ) -> [Row] {
    table.settings.flatMap { setting in
      [Row(setting, variable: variable(setting.variable), of: standard)] + setting.entryRows.map { Row($0) }
    }
  }

  static func apps() -> String {
    heading("apps[]")
      + rows(AppSettings.table, of: AppSettings()) { ["apps", "<N>"] + $0 }.map(row).joined()
      + "\n`<N>` counts from 0. The number after the last entry in the file adds an entry to `apps`.\n"
  }

  static func workers(_ forms: [WorkerSettingsForm]) -> String {
    var text = heading("workers.<name>")
    let standard = WorkerEntry().filled(from: WorkerPolicy())
    text += rows(WorkerEntry.table, of: standard) { ["workers", "<name>"] + $0 }.map(row).joined()
    text += "\nSome workers that ship with Millrace have other defaults:\n\n| Worker | Defaults |\n|---|---|\n"
    for form in forms {
      let own = WorkerEntry().filled(from: form.standard)
      let different = WorkerEntry.table.settings.compactMap { setting in
        let value = setting.read(own)
        return value == setting.read(standard) ? nil : value.map { "`\(setting.name)` `\($0.flowText)`" }
      }
      if !different.isEmpty { text += "| `\(form.name)` | \(different.joined(separator: ", ")) |\n" }
    }
    text += """

      `MILLRACE_WORKERS` holds the whole section: `{refunds: {}, consumption: {parallelism: 4}}`. In the name of a
      variable, write the worker's name in upper case, with `_` for `-`. A worker that you write declares its own keys
      under `settings`; `--reference` prints them.

      `webhooks.<name>` is short for `workers.webhook-<name>.settings`, and `MILLRACE_WEBHOOKS` holds that whole section.
      `--print-config` shows webhooks under `workers` ([webhooks.md](webhooks.md)).

      """
    return text + forms.filter { !$0.rows.isEmpty }.map(settings).joined()
  }

  /// Returns the section of one worker type's settings.
  package static func settings(_ form: WorkerSettingsForm) -> String {
    heading("workers.\(form.name).settings") + form.rows.map(row).joined()
  }

  static func heading(_ section: String) -> String {
    "\n## `\(section)`\n\n| Key | Variable | Value | Default | Meaning |\n|---|---|---|---|---|\n"
  }

  static func row(_ row: Row) -> String {
    let text = row.standard?.flowText ?? ""
    let standard = text.isEmpty || text == "\"\"" ? "" : "`\(text)`"
    let kind = row.kind.split(separator: "|").joined(separator: " \\| ")
    let variable = row.variable.isEmpty ? "" : "`\(row.variable)`"
    return "| `\(row.name)` | \(variable) | \(kind) | \(standard) | \(row.summary) |\n"
  }
}
