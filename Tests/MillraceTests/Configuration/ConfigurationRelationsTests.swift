import Testing

@testable import MillraceCore

@Suite struct ConfigurationRelationsTests {
  private static let broken: [(text: String, hint: String)] = [
    ("apps: [{bundleId: a}]", "Apple ID"),
    ("apps: [{environments: [Sandbox]}]", "no bundleId"),
    ("apps: [{bundleId: a, environments: []}]", "no environments"),
    ("apps: [{bundleId: a, environments: [Sandbox]}, {bundleId: a, environments: [Sandbox]}]", "two apps"),
    ("apps: [{bundleId: a, environments: [Sandbox], api: {keyId: k}}]", "incomplete"),
    ("kafka: {properties: {message.timeout.ms: 2h}}", "message.timeout.ms"),
    ("kafka: {properties: {delivery.timeout.ms: 0}}", "delivery.timeout.ms"),
    ("kafka: {properties: {acks: 1}}", "acks"),
    ("kafka: {properties: {request.required.acks: 1}}", "request.required.acks"),
    ("kafka: {properties: {bootstrap.servers: x}}", "bootstrap.servers"),
    ("kafka: {properties: {a: b}, propertyFiles: {a: f}}", "also set in kafka.properties"),
    ("kafka: {bootstrapServers: embedded, commit: transactional}", "no transactions"),
    ("forward: [{url: 'http://a'}]", "forward[0].name"),
    ("forward: [{name: a}]", "forward[0].url"),
    ("forward: [{name: a, url: 'http://a'}, {name: a, url: 'http://b'}]", "two receivers"),
    ("forward: [{name: a23456789012345678901234567890123, url: 'http://a'}]", "32 characters"),
    ("forward: [{name: a, url: 'https://me:secret@a/b'}]", "headerFiles"),
    ("forward: [{name: a, url: 'http://a', bundleIds: [b]}]", "b is not configured"),
    ("forward: [{name: a, url: 'http://a', environments: []}]", "no environments"),
    ("forward: [{name: a, url: 'http://a', restorePassword: true}]", "sharedSecretFiles"),
    ("forward: [{name: a, url: 'http://a', headers: {x: 1}, headerFiles: {x: f}}]", "also set in headers"),
    ("forward: [{name: a, url: 'http://a', headers: {Content-Type: x}}]", "set by Millrace"),
    ("consumption: {providers: [http], http: {secretFiles: [f]}}", "consumption.http.url"),
    ("consumption: {providers: [http], http: {url: 'http://a'}}", "consumption.http.secretFiles"),
    ("consumption: {http: {url: 'http://me:secret@a'}}", "a password"),
    ("consumption: {providers: [topic, topic]}", "listed twice"),
    ("consumption: {providers: [rules]}", "no rules"),
    ("consumptionRules: [{customerConsented: true}]", "deliveryStatus: is required"),
    (
      "consumptionRules: [{customerConsented: true, deliveryStatus: DELIVERED, refundPreference: GRANT_PRORATED, "
        + "consumptionPercentage: 0}]", "GRANT_PRORATED"
    ),
    (
      "consumptionRules: [{customerConsented: true, deliveryStatus: DELIVERED, type: Auto-Renewable Subscription, "
        + "consumptionPercentage: 1}]", "auto-renewable"
    ),
    ("consumptionRules: [{type: Subscription}]", "Auto-Renewable Subscription"),
    ("ingress: {tls: {certificate: c}}", "ingress.tls.key"),
    ("ingress: {tls: {key: k}}", "ingress.tls.certificate"),
    ("ingress: {bodyTimeout: 20s}", "ingress.bodyTimeout"),
    ("ingress: {port: 9090}", "same port"),
    ("clock: {rate: 60}", "clock.rate"),
    ("clock: {origin: 2026-01-01T00:00:00Z}", "clock.origin"),
    ("clock: {rate: 2}\nappStore: {productionURL: 'http://localhost:1'}", "appStore.sandboxURL"),
    ("clock: {rate: 2}\nappStore: {productionURL: 'http://u@API.Apple.com:1/x', sandboxURL: 'http://l'}", "Apple's"),
  ]

  @Test(arguments: broken)
  func `A violated relation between keys is refused and the key is named`(text: String, hint: String) {
    let error = #expect(throws: MillraceError.self) { try LoadedConfiguration.load(text: text) }
    #expect(error?.area == .configuration)
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    "apps: [{bundleId: a, appAppleId: 1}]",
    "apps: [{bundleId: a, environments: [Sandbox]}, {bundleId: b, environments: [Sandbox]}]",
    "kafka: {properties: {message.timeout.ms: 9000}}",
    "kafka: {properties: {message.timeout.ms: 180000}}",
    "kafka: {properties: {acks: all}}",
    "kafka: {bootstrapServers: embedded, commit: at-least-once}",
    "ingress: {tls: {certificate: c, key: k}}",
    "forward: [{name: a, url: 'http://a'}, {name: b, url: 'http://a/@', headers: {x: 1}, headerFiles: {y: f}}]",
    "forward: [{name: a2345678901234567890123456789012, url: 'http://a'}]",
    "consumption: {providers: [http, topic], http: {url: 'http://a/b@c', secretFiles: [f]}}",
    "consumptionRules: [{}, {customerConsented: true, deliveryStatus: UNDELIVERED_OTHER, type: Consumable}]",
    "consumptionRules: [{customerConsented: true, deliveryStatus: DELIVERED, refundPreference: GRANT_FULL}]",
    "ingress: {port: 0}\nadmin: {port: 0}",
    "clock: {rate: 1}",
    "clock: {rate: 60}\nappStore: {productionURL: 'http://localhost:1', sandboxURL: 'http://notapple.com:2'}",
  ])
  func `Configurations that satisfy the relations are accepted`(text: String) throws {
    _ = try LoadedConfiguration.load(text: text)
  }
}
