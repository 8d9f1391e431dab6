// Tests `workers.<name>.settings`: how a worker type reads, checks, prints and documents its own keys.

import Testing

@testable import MillraceCore

private struct ReminderSettings: WorkerSettings, Hashable {
  struct Offer: Sendable, Hashable {
    var product = ""
    var percent = 10
  }

  var delay = Duration.seconds(60)
  var url: String?
  var smtpHost = "localhost"
  var headers: [String: String] = [:]
  var offers: [Offer] = []

  static let table = SettingTable<Self>([
    Setting("delay", \.delay, .duration(.seconds(1) ... .seconds(3_600)), "How long to wait."),
    Setting("url", \.url, .url, "Where to post."),
    Setting("smtp.host", \.smtpHost, .nonEmptyText, "The mail server."),
    Setting("headers", \.headers, .textMap(isSecret: { _ in true }), "Header fields."),
    Setting(
      "offers", \.offers,
      entries: SettingTable<Offer>([
        Setting("product", \.product, .nonEmptyText, "The product."),
        Setting("percent", \.percent, .integer(1...100), "The discount."),
      ]), standard: Offer(), "The offers."),
  ])

  func problems(in configuration: MillraceConfiguration) -> [MillraceError.Problem] {
    offers.isEmpty || url != nil ? [] : [.init("offers need a url", at: "url", remedy: "set it")]
  }
}

@Suite struct WorkerSettingsTests {
  private static let form = WorkerSettingsForm(ReminderSettings.self, named: "reminder") { $0 == "reminder" }

  private static func load(
    _ settings: String, _ environment: [String: String] = [:]
  ) throws -> LoadedConfiguration {
    try LoadedConfiguration.load(
      text: "workers:\n  reminder:\n    parallelism: 2\n    settings: \(settings)\n", file: "m.yaml",
      environment: environment, workers: [form])
  }

  private static func read(
    _ settings: String, _ environment: [String: String] = [:]
  ) throws -> ReminderSettings {
    try load(settings, environment).configuration.settings(of: "reminder")
  }

  @Test func `a worker reads its own section, and the defaults without one`() throws {
    let read = try Self.read(
      "{delay: 5m, url: 'https://a', smtp: {host: mail}, offers: [{product: a}, {product: b, percent: 50}]}")
    #expect(read.delay == .seconds(300) && read.url == "https://a" && read.smtpHost == "mail")
    #expect(read.offers == [.init(product: "a"), .init(product: "b", percent: 50)])
    #expect(try MillraceConfiguration().settings(of: "reminder") == ReminderSettings())
    #expect(
      try LoadedConfiguration.load(text: "workers: {reminder: }").configuration.settings(of: "reminder")
        == ReminderSettings())
  }

  @Test func `the variable with all workers overrides single keys of the section`() throws {
    let loaded = try Self.load(
      "{delay: 5m, url: 'https://a'}", ["MILLRACE_WORKERS": "{reminder: {parallelism: 3, settings: {delay: 7s}}}"])
    let read: ReminderSettings = try loaded.configuration.settings(of: "reminder")
    #expect(read.delay == .seconds(7) && read.url == "https://a")
    #expect(loaded.sources["workers.reminder.parallelism"] == .environment("MILLRACE_WORKERS"))
  }

  @Test func `an error about a map does not contain what may be a secret`() throws {
    let error = try #require(throws: MillraceError.self) {
      _ = try Self.read("{headers: {'Authorization=Bearer s3cret': }}")
    }
    #expect(!"\(error)".contains("s3cret") && "\(error)".contains("settings.headers"))
  }

  @Test func `a worker's name does not contain the word that begins its variables`() {
    #expect(!WorkerEntry.isName("my-settings-x") && !WorkerEntry.isName("my-settings"))
    #expect(WorkerEntry.isName("settings") && WorkerEntry.isName("my-settingsx"))
  }

  @Test func `variables override the section, lists of sections included`() throws {
    let read = try Self.read(
      "{delay: 5m, url: 'https://a'}",
      [
        "MILLRACE_WORKERS_REMINDER_SETTINGS_DELAY": "7s", "MILLRACE_WORKERS_REMINDER_SETTINGS_SMTP_HOST": "relay",
        "MILLRACE_WORKERS_REMINDER_SETTINGS_OFFERS": "[{product: c}]",
      ])
    #expect(read.delay == .seconds(7) && read.smtpHost == "relay" && read.offers.map(\.product) == ["c"])
  }

  @Test(arguments: [
    ("{dely: 5m}", "m.yaml:4: unknown key `workers.reminder.settings.dely`; did you mean"),
    ("{delay: 2h}", "m.yaml:4: `workers.reminder.settings.delay` has an invalid value; set it to a duration from 1s"),
    ("{offers: [{product: a, percent: 0}]}", "m.yaml:4: `workers.reminder.settings.offers[0].percent` has an invalid"),
    ("{offers: [{sku: a}]}", "m.yaml:4: unknown key `workers.reminder.settings.offers[0].sku`"),
    ("{url: 'https://a', offers: [~, {product: a}]}", "m.yaml:4: `workers.reminder.settings.offers[0]` is empty"),
    ("{offers: {product: a}}", "`workers.reminder.settings.offers` has an invalid value; set it to a list of sections"),
    ("[delay]", "`workers.reminder.settings` is a list"),
    ("{offers: [{product: a}]}", "workers.reminder.settings.url (default): offers need a url; set it"),
  ])
  func `a mistake is named with its line, its key and a correction`(settings: String, problem: String) {
    let error = #expect(throws: MillraceError.self) { try Self.load(settings) }
    #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
  }

  @Test func `an unknown variable names the nearest one`() {
    let error = #expect(throws: MillraceError.self) {
      try Self.load("{}", ["MILLRACE_WORKERS_REMINDER_SETTINGS_DELAI": "7s"])
    }
    #expect(error?.description.contains("did you mean MILLRACE_WORKERS_REMINDER_SETTINGS_DELAY?") == true)
  }

  @Test func `a process that does not know the worker neither checks nor prints its settings`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "workers: {reminder: {settings: {password: hunter2}}}", environment: [:])
    #expect(!loaded.rendered().contains("hunter2"))
    #expect(loaded.rendered().contains("# settings:"))
    #expect(throws: MillraceError.self) {
      let _: ReminderSettings = try loaded.configuration.settings(of: "reminder")
    }
  }

  @Test func `the printed settings parse to the same settings, with sources, and secrets are masked`() throws {
    let text = "{delay: 5m, url: 'https://a', offers: [{product: a, percent: 20}]}"
    let loaded = try Self.load(text, ["MILLRACE_WORKERS_REMINDER_SETTINGS_SMTP_HOST": "relay"])
    let rendered = loaded.rendered(workers: [Self.form])
    let again = try LoadedConfiguration.load(text: rendered, workers: [Self.form])
    let (first, second): (ReminderSettings, ReminderSettings) = (
      try loaded.configuration.settings(of: "reminder"), try again.configuration.settings(of: "reminder")
    )
    #expect(first == second && first.smtpHost == "relay")
    #expect(rendered.contains("# m.yaml:4") && rendered.contains("# MILLRACE_WORKERS_REMINDER_SETTINGS_SMTP_HOST"))
    let secret = try Self.load("{headers: {X-Api-Key: hunter2}}").rendered(workers: [Self.form])
    #expect(!secret.contains("hunter2") && secret.contains("X-Api-Key: \"********\""))
  }

  @Test func `the reference lists the keys, their variables and the keys of entries`() {
    let page = ConfigurationReference.settings(Self.form)
    #expect(page.contains("## `workers.reminder.settings`"))
    #expect(
      page.contains("| `delay` | `MILLRACE_WORKERS_<NAME>_SETTINGS_DELAY` | duration | `1m` | How long to wait. |"))
    #expect(page.contains("| `offers[].percent` |  | integer | `10` | The discount. |"))
  }
}
