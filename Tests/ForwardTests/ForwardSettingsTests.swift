// Tests the settings of a receiver.

import Testing

@testable import Forward
import MillraceCore
import MillraceWorker

@Suite struct ForwardSettingsTests {
  private func load(_ settings: String) throws -> LoadedConfiguration {
    try LoadedConfiguration.load(
      text: "workers: {forward-a: {settings: \(settings)}}", workers: [Forwarder.settingsForm])
  }

  @Test(arguments: [
    ("{}", "workers.forward-a.settings.url"),
    ("{url: 'http://a', families: [refund]}", "there is no family `refund`"),
    ("{url: 'http://a', families: [refund]}", "did you mean refunds?"),
    ("{url: 'http://a', types: [REFUNDED]}", "the invalid value \"REFUNDED\""),
    ("{url: 'http://a', types: [did_renew]}", "DID_RENEW, the nearest type"),
    ("{url: 'https://me:secret@a/b'}", "headerFiles"),
    ("{url: 'http://a', bundleIds: [b]}", "b is not configured"),
    ("{url: 'http://a', environments: []}", "no environments"),
    ("{url: 'http://a', restorePassword: true}", "sharedSecretFiles"),
    ("{url: 'http://a', headers: {x: 1}, headerFiles: {x: f}}", "also set in headers"),
    ("{url: 'http://a', headers: {Content-Type: x}}", "set by Millrace"),
    ("{name: a, url: 'http://a'}", "unknown key `workers.forward-a.settings.name`"),
  ])
  func `a mistake is refused and its key is named`(settings: String, hint: String) {
    let error = #expect(throws: MillraceError.self) { try load(settings) }
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("secret@") == false)
  }

  @Test func `header fields and the URL's query are masked in the printed configuration`() throws {
    let loaded = try load(
      "{url: 'https://a/hook?key=hunter1&team=a', headers: {X-Api-Key: hunter2}, headerFiles: {y: /run/f}}")
    let settings: ForwardSettings = try loaded.configuration.settings(of: "forward-a")
    #expect(settings.headers["X-Api-Key"] == "hunter2" && settings.url == "https://a/hook?key=hunter1&team=a")
    let rendered = loaded.rendered(workers: [Forwarder.settingsForm])
    #expect(!rendered.contains("hunter"))
    #expect(rendered.contains("X-Api-Key: \"********\"") && rendered.contains("https://a/hook?********"))
    #expect(rendered.contains("/run/f"))
  }
}
