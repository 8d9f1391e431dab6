// Tests the settings of the consumption worker.

import Testing

@testable import Consumption
import MillraceCore
import MillraceWorker

@Suite struct ConsumptionSettingsTests {
  private func load(_ settings: String) throws {
    _ = try LoadedConfiguration.load(
      text: "workers: {consumption: {settings: \(settings)}}", workers: [ConsumptionWorker.settingsForm])
  }

  @Test(arguments: [
    ("{providers: [http], http: {secretFiles: [f]}}", "workers.consumption.settings.http.url"),
    ("{providers: [http], http: {url: 'http://a'}}", "workers.consumption.settings.http.secretFiles"),
    ("{http: {url: 'http://me:secret@a'}}", "a password"),
    ("{providers: [topic, topic]}", "listed twice"),
    ("{providers: [rules]}", "no rules"),
    ("{rules: [{customerConsented: true}]}", "deliveryStatus: is required"),
    (
      "{rules: [{customerConsented: true, deliveryStatus: DELIVERED, refundPreference: GRANT_PRORATED, "
        + "consumptionPercentage: 0}]}", "GRANT_PRORATED"
    ),
    (
      "{rules: [{customerConsented: true, deliveryStatus: DELIVERED, type: Auto-Renewable Subscription, "
        + "consumptionPercentage: 1}]}", "auto-renewable"
    ),
    ("{rules: [{type: Subscription}]}", "Auto-Renewable Subscription"),
  ])
  func `a mistake is refused and its key is named`(settings: String, hint: String) {
    let error = #expect(throws: MillraceError.self) { try load(settings) }
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    "{providers: [http, topic], http: {url: 'http://a/b@c', secretFiles: [f]}}",
    "{rules: [{}, {customerConsented: true, deliveryStatus: UNDELIVERED_OTHER, type: Consumable}]}",
    "{rules: [{customerConsented: true, deliveryStatus: DELIVERED, refundPreference: GRANT_FULL}]}",
  ])
  func `complete settings are accepted`(settings: String) throws { try load(settings) }
}
