// `docs/configuration.md`, generated from the list of keys. A test compares the committed page with this text.

extension MillraceConfiguration {
  /// The reference page, as Markdown.
  public static func reference() -> String {
    let defaults = MillraceConfiguration()
    var page = """
      # Configuration

      One YAML file configures all processes: `--config millrace.yaml`, or `MILLRACE_CONFIG`. Every key is also an
      environment variable, which overrides the file. `--print-config` (or `millrace config`) prints the effective
      values and their sources. An unknown key or variable is an error that names the nearest known one.

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
          page +=
            listReference("apps", AppSettings.table, AppSettings())
            + listReference("workers", WorkerSettings.table, WorkerSettings())
            + listReference("forward", ForwardSettings.table, ForwardSettings())
            + listReference("consumptionRules", ConsumptionRule.table, ConsumptionRule())
        }
        page += heading(section)
      }
      page += row(setting, EnvironmentVariables.name(of: setting.path), of: defaults)
    }
    return page
  }

  private static func listReference<Entry>(_ key: String, _ table: SettingTable<Entry>, _ standard: Entry) -> String {
    var text = heading("\(key)[]")
    for setting in table.settings {
      text += row(setting, EnvironmentVariables.name(of: [key, "<N>"] + setting.path), of: standard)
    }
    return text + "\n`<N>` counts from 0. The number after the last entry in the file adds an entry to `\(key)`.\n"
  }

  private static func heading(_ section: String) -> String {
    "\n## `\(section)`\n\n| Key | Variable | Value | Default | Meaning |\n|---|---|---|---|---|\n"
  }

  private static func row<Root>(_ setting: Setting<Root>, _ variable: String, of defaults: Root) -> String {
    let text = setting.read(defaults)?.flowText ?? ""
    let standard = text.isEmpty || text == "\"\"" ? "" : "`\(text)`"
    let kind = setting.kind.split(separator: "|").joined(separator: " \\| ")
    return "| `\(setting.name)` | `\(variable)` | \(kind) | \(standard) | \(setting.summary) |\n"
  }
}
